package conform

func (inv *invocation) vectors() int  { return 3 }
func (inv *invocation) init() int     { return 3 }
func (inv *invocation) selftest() int { return 3 }
