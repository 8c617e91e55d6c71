// Package storm has no product code: its test lets a fault storm loose on conversations. Cores, which
// are processes that are killed at any moment, run turns over every wire format against a server that
// cuts, stalls, refuses and talks nonsense, while a person sends, queues, edits, interrupts and changes
// models. What is left must be valid logs in which no message is lost or doubled, and every request
// must have been legal in the eyes of package legal, which knows nothing of our codecs.
//
//	go test ./agent/storm                        the short storm, as in CI
//	make storm                                   1,000 turns
//	STORM_SEED=7 STORM_TURNS=300 go test ./agent/storm -run TestStorm -v -timeout 30m
package storm
