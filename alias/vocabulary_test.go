package alias_test

import "strings"

// vocabulary is a household's own vocabulary: 80 phrases of 16 names.
func vocabulary() map[string]string {
	phrases := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(`
diskning: diska, disken, ta disken, tömma diskmaskinen, plocka ur disken
dammsugning: dammsuga, dammsugit, dammsög, dammsuga hallen, dammsuga vardagsrummet
tvätt: tvätta, tvätten, hänga tvätt, vika tvätt, köra en maskin
städning: städa, städat, storstäda, plocka undan, plocka upp
matlagning: laga mat, lagat mat, fixa middag, göra frukost, steka pannkakor
handling: handla, handlat, handla mat, gå till affären, storhandla
sopor: gå ut med soporna, slänga sopor, soporna, tömma papperskorgen, byta påse
pantning: pant, panta, pantat, gå med panten, lämna flaskor
återvinning: återvinna, kartonger, slänga papper, åka till återvinningen, glas
badrum: städa badrummet, skura toan, putsa spegeln, göra rent duschen, byta handdukar
fönsterputsning: putsa fönster, putsat fönstren, fönsterputs, tvätta fönster, fönstren
sängar: bädda, bädda sängen, byta lakan, vädra täcken, nya lakan
växter: vattna, vattna blommorna, plantera om, gödsla, krukväxter
trädgård: klippa gräset, rensa ogräs, kratta löv, beskära, vattna gräsmattan
hund: gå ut med hunden, hundpromenad, rasta hunden, mata hunden, borsta hunden
skjuts: hämta barnen, lämna på dagis, skjutsa till träningen, köra till skolan, hämta på fritids
`), "\n") {
		name, list, _ := strings.Cut(line, ": ")
		for _, phrase := range strings.Split(list, ", ") {
			phrases[phrase] = name
		}
	}
	return phrases
}
