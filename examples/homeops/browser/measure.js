// What people see of the page: every text with its box, its size and its contrast.
(() => {
  const alpha = c => { const m = c.match(/[\d.]+/g).map(Number); return m.length < 4 ? 1 : m[3]; };
  const luminance = c => {
    const [r, g, b] = c.match(/[\d.]+/g).slice(0, 3).map(x => { x /= 255; return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (a, b) => { const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
  const ground = e => {
    for (; e; e = e.parentElement) {
      const c = getComputedStyle(e).backgroundColor;
      if (alpha(c) === 1) return c;
      if (alpha(c) !== 0) throw new Error("a background that is half transparent: " + e.outerHTML.slice(0, 80));
    }
    throw new Error("no background");
  };
  const inside = (b, x, y) => b.left <= x && x <= b.right && b.top <= y && y <= b.bottom;
  const behind = (e, box) => { // for a text in a drawing: the last shape before it that lies under it
    if (!(e instanceof SVGElement)) return ground(e);
    const x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
    const shapes = [...e.ownerSVGElement.querySelectorAll("rect")].filter(r =>
      (r.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING) && inside(r.getBoundingClientRect(), x, y));
    return shapes.length ? getComputedStyle(shapes.at(-1)).fill : ground(e.ownerSVGElement);
  };
  const clipped = (box, e) => { // to what a scrolling region shows of it
    let { left, right, top, bottom } = box;
    for (; e; e = e.parentElement) {
      if (getComputedStyle(e).overflowX === "visible") continue;
      const s = e.getBoundingClientRect();
      left = Math.max(left, s.left); right = Math.min(right, s.right);
    }
    return { left, right, top, bottom };
  };
  const texts = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode, e = node.parentElement;
    if (!node.data.trim() || !e.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const style = getComputedStyle(e), size = parseFloat(style.fontSize), bold = Number(style.fontWeight) >= 700;
    const scale = e instanceof SVGElement ? e.ownerSVGElement.getBoundingClientRect().width / e.ownerSVGElement.viewBox.baseVal.width : 1;
    for (const box of range.getClientRects()) {
      if (box.width < 1 || box.height < 1) continue;
      const color = e instanceof SVGElement ? style.fill : style.color;
      texts.push({
        text: node.data.trim().slice(0, 60), size: size * scale, large: size * scale >= 24 || bold && size * scale >= 18.66,
        contrast: ratio(color, behind(e, box)), ...clipped(box, e), scrolls: !!e.closest(".scroll"),
      });
    }
  }
  const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
  const overlaps = [];
  texts.forEach((a, i) => texts.slice(i + 1).forEach(b => { if (meet(a, b)) overlaps.push(a.text + " / " + b.text); }));
  const boxes = [...document.querySelectorAll("h1, h2, h3, p, nav, .card, table, svg, details")].filter(e => e.checkVisibility());
  boxes.forEach((a, i) => boxes.slice(i + 1).forEach(b => {
    if (!a.contains(b) && meet(clipped(a.getBoundingClientRect(), a), clipped(b.getBoundingClientRect(), b))) overlaps.push(a.outerHTML.slice(0, 60) + " / " + b.outerHTML.slice(0, 60));
  }));
  return { width: document.documentElement.scrollWidth, window: innerWidth, texts, overlaps };
})()
