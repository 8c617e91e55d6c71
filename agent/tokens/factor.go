package tokens

import "sync"

// Factor is what was learned about a model: how many real tokens there are for one counted, from
// how many requests.
type Factor struct {
	Value   float64
	Samples int
}

const (
	// A factor stays between these: beyond them something else was counted than what was sent.
	least, most = 0.5, 2.5
	// minRaw is how many tokens a request must have to teach something: in shorter ones the parts
	// that providers add weigh too much.
	minRaw = 500
	// settled is from how many requests on a single one moves a factor by a tenth of its share, and
	// counts as at most so much off.
	settled = 10
	off     = 1.3
	// maxModels bounds the models that are remembered.
	maxModels = 1000
	// changed is by how much a factor must differ to be saved once it is settled.
	changed = 0.01
)

// factors are those of all models. The Counter's lock guards all but saving, which keeps the calls
// of save in order.
type factors struct {
	saving sync.Mutex
	save   func(string, Factor)
	known  map[string]Factor
	saved  map[string]float64
}

func newFactors(known map[string]Factor, save func(string, Factor)) *factors {
	f := &factors{save: save, known: map[string]Factor{}, saved: map[string]float64{}}
	for id, k := range known {
		if k.Value >= least && k.Value <= most && k.Samples > 0 && len(f.known) < maxModels {
			f.known[id], f.saved[id] = k, k.Value
		}
	}
	return f
}

func (f *factors) of(id string) float64 {
	if k, ok := f.known[id]; ok {
		return k.Value
	}
	return 1
}

// learn folds one request in: a mean of the first ones, then one that follows slowly and that no
// single request can pull away. worth says that it should be saved.
func (f *factors) learn(id string, raw, real int64) (k Factor, worth bool) {
	k, ok := f.known[id]
	if raw < minRaw || real <= 0 || !ok && len(f.known) >= maxModels {
		return k, false
	}
	ratio := min(max(float64(real)/float64(raw), least), most)
	if k.Samples >= settled {
		ratio = min(max(ratio, k.Value/off), k.Value*off)
	}
	k.Samples++
	k.Value += (ratio - k.Value) / float64(min(k.Samples, settled))
	f.known[id] = k
	last, was := f.saved[id]
	if was && k.Samples > settled && max(k.Value/last, last/k.Value) < 1+changed {
		return k, false
	}
	f.saved[id] = k.Value
	return k, true
}
