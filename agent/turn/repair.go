package turn

import "carrel/agent/model"

// repair stands in for model.Repair.
func repair(m []model.Message) []model.Message { return m }
