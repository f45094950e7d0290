package endtoend

import (
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

const coldStarts = 5

// One iteration is one invocation of a warm process. The benchmark reports its
// median and its processor time, and the medians of some cold starts: until the
// process asks for its first invocation, and of that invocation. All are in
// milliseconds. DynamoDB, SQS and SSM answer at once here.
//
//	go test ./endtoend -run NONE -bench . -benchtime 500x
func BenchmarkIngest(b *testing.B) {
	var id int64
	benchmark(b, ingestBinary, func(w *world, l *lambda) time.Duration {
		id++
		var out events.APIGatewayV2HTTPResponse
		took := l.invoke(post(says(id, "Jag har diskat")), &out)
		if out.StatusCode != 200 {
			b.Fatal(out)
		}
		return took
	})
}

func BenchmarkWorker(b *testing.B) {
	var id int64
	begin := time.Now().Add(-6 * 24 * time.Hour)
	benchmark(b, workerBinary, func(w *world, l *lambda) time.Duration {
		id++
		at := begin.Add(time.Duration(id) * 5 * time.Minute) // as fast as no chat is for long
		w.send(saysAt(at, id, "Jag har diskat"))
		batch, event := w.receive(1)
		var out events.SQSEventResponse
		took := l.invoke(event, &out)
		if failed := w.settle(batch, out); len(failed) > 0 {
			b.Fatal(failed)
		}
		return took
	})
}

func benchmark(b *testing.B, binary string, invoke func(*world, *lambda) time.Duration) {
	w := newWorld(b)
	var inits, firsts, initCPU, warm []time.Duration
	for range coldStarts {
		l := start(b, binary, w.env)
		l.waitIdle()
		inits = append(inits, time.Since(l.started))
		l.kill()
		initCPU = append(initCPU, l.cpu())
	}
	for range coldStarts {
		l := start(b, binary, w.env)
		firsts = append(firsts, invoke(w, l))
	}
	l := start(b, binary, w.env)
	for b.Loop() {
		warm = append(warm, invoke(w, l))
	}
	l.kill()
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	b.ReportMetric(0, "ns/op") // which has the test's own part
	b.ReportMetric(ms(median(inits)), "init-ms")
	b.ReportMetric(ms(median(initCPU)), "init-cpu-ms")
	b.ReportMetric(ms(median(firsts)), "first-ms")
	b.ReportMetric(ms(median(warm)), "warm-ms")
	b.ReportMetric(ms(l.cpu()-median(initCPU))/float64(len(warm)), "warm-cpu-ms")
}

// cpu returns the processor time that the process took in all.
func (l *lambda) cpu() time.Duration {
	return l.command.ProcessState.UserTime() + l.command.ProcessState.SystemTime()
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
