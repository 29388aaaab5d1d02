package wasteguard

// shipped is the model of a policy without a learnt one. TestShippedModel in package training
// writes it, from the runs of Who&When (docs/waste.md).
var shipped = Model{
	Weights: Features{
		tool:     -1.601,
		position: 0.2226,
		squared:  -0.1122,
		length:   -0.05372,
		digits:   0.1704,
		list:     0.2367,
		code:     1.006,
		invented: 0.6477,
		failure:  -0.3043,
		asked:    -2.796,
	},
	Means: Features{
		tool:     0.098,
		position: 3.858,
		squared:  18.31,
		length:   8.705,
		digits:   2.987,
		list:     0.7113,
		code:     0.1247,
		invented: 0.0626,
		failure:  0.1016,
		asked:    0.01283,
	},
	Cuts: [8]float64{3.4919, 3.1622, 2.6632, 2.1369, 1.3653, 0.7778, 0.4066, -0.1379},
}
