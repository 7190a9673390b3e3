package live

// choose lets the model of the turn be the one that is wanted by now. One that cannot be had leaves the one before: the
// turn is not lost for that, and who is asked says what is wrong.
//
// Rule: OUP-LLM-008.
func (s *Session) choose(t *turn) {
	if s.o.Model == nil {
		return
	}
	want := s.o.Model()
	if want == "" {
		return
	}
	stored, err := s.Info(t.context)
	if err == nil && stored.Model != want {
		_, _, reasoning := t.with.Model()
		err = t.with.SetModel(t.context, want, reasoning)
	}
	s.failed("the model is not changed", err)
}
