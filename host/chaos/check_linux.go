package chaos

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/octet-dev/octet/host/campaign"
	"github.com/octet-dev/octet/host/session"
)

// maxEntries is when a new session is begun: reading one back takes the longer the more it holds.
const maxEntries = 1500

// settle has everything that runs come to its end and holds what must hold then.
func (p *player) settle() error {
	p.mu.Lock()
	for id, c := range p.open {
		if c.slow {
			p.cancel(id)
		}
	}
	waiting := slices.Collect(maps.Keys(p.open))
	p.mu.Unlock()
	for _, id := range waiting {
		if err := p.finish(id); err != nil {
			return err
		}
	}
	settled, err := p.ask(order{Op: opSettle})
	if err != nil {
		return err
	}
	if err := p.strangers(settled.Processes); err != nil {
		return err
	}
	return p.said()
}

// finish waits for the outcome of a call or a reload.
func (p *player) finish(id int) error {
	p.mu.Lock()
	c := p.open[id]
	p.mu.Unlock()
	if c == nil {
		return nil
	}
	select {
	case <-c.done:
		return nil
	case <-p.read:
		return fmt.Errorf("the host has ended: %s", lastLines(p.stderr.String()))
	case <-time.After(p.patience):
		p.total.Unsettled.Add(1)
		return fmt.Errorf("%s is not settled after %s: %s", c.what, p.patience, p.dump())
	}
}

// said reports what was wrong with what the host said.
func (p *player) said() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.faults) > 0 {
		return errors.New(strings.Join(p.faults, "\n"))
	}
	return nil
}

// strangers demands that every process belongs to the host, or to a generation that lives.
func (p *player) strangers(living map[string]int) error {
	return p.eventually(func(r campaign.Relative) bool {
		return r.Scratch == "" && r.PID == p.process.Process.Pid || living[r.Scratch] != 0
	})
}

// eventually demands that soon only expected processes are there.
func (p *player) eventually(expected func(campaign.Relative) bool) error {
	for late := time.Now().Add(p.patience / 4); ; {
		var left []string
		for _, r := range campaign.Relatives(markVariable + "=" + p.mark) {
			if !expected(r) {
				left = append(left, fmt.Sprintf("%d %s", r.PID, r.Command))
			}
		}
		if len(left) == 0 {
			return nil
		}
		if time.Now().After(late) {
			p.total.Survivors.Add(int64(len(left)))
			return fmt.Errorf("processes that should be gone: %s", strings.Join(left, ", "))
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// ended holds what must hold when a host has ended, however it did. Killed says that it was not asked.
func (p *player) ended(ctx context.Context, killed bool) error {
	_ = p.input.Close()
	select {
	case <-p.read:
	case <-time.After(p.patience):
		return errors.New("somebody holds the output of a host that has ended")
	}
	err := p.process.Wait()
	if !killed && err != nil {
		return fmt.Errorf("the host ended with %w: %s", err, lastLines(p.stderr.String()))
	}
	for _, word := range []string{"DATA RACE", "panic:", "fatal error:"} {
		if text := p.stderr.String(); strings.Contains(text, word) {
			return fmt.Errorf("the host said: %s", lastLines(text))
		}
	}
	p.mu.Lock()
	lost := len(p.open)
	p.mu.Unlock()
	if killed {
		p.total.Lost.Add(int64(lost)) // they died with the host, which is their outcome
	} else if lost > 0 {
		p.total.Unsettled.Add(int64(lost))
		return fmt.Errorf("%d calls had no outcome when the host ended in order", lost)
	}
	return errors.Join(
		p.said(),
		p.eventually(func(campaign.Relative) bool { return false }),
		p.remembered(ctx),
		p.once(),
	)
}

// remembered demands that the store still has every record that it acknowledged.
func (p *player) remembered(ctx context.Context) (err error) {
	ledger, err := os.Open(filepath.Join(p.dir, ledgerName))
	if err != nil {
		return err
	}
	defer func() { _ = ledger.Close() }()
	store, err := session.Open(ctx, filepath.Join(p.dir, storeName))
	if err != nil {
		return fmt.Errorf("open the store: %w", err)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	branch, err := store.Branch(ctx, p.session)
	if err != nil {
		return fmt.Errorf("read the session: %w", err)
	}
	stored := make(map[string]string, len(branch))
	for _, entry := range branch {
		if said, ok := entry.Value.(session.Message); ok && len(said.Message.Parts) == 1 {
			stored[string(entry.ID)] = said.Message.Parts[0].Text
		}
	}
	count := 0
	for lines := bufio.NewScanner(ledger); lines.Scan(); count++ {
		id, said, _ := strings.Cut(lines.Text(), " ")
		if stored[id] != said {
			p.total.Forgotten.Add(1)
			err = errors.Join(err, fmt.Errorf("entry %s was acknowledged as %q and is %q", id, said, stored[id]))
		}
	}
	p.total.Acknowledged.Add(int64(count - p.entries))
	p.entries = count
	if err == nil && count > maxEntries {
		return p.newSession(ctx)
	}
	return err
}

// once demands that no recorded call has reached an extension twice.
func (p *player) once() error {
	text, err := os.ReadFile(filepath.Join(p.dir, recordName))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	seen := map[string]bool{}
	for token := range strings.FieldsSeq(string(text)) {
		if seen[token] {
			p.total.Repeated.Add(1)
			return fmt.Errorf("the call %s was made twice", token)
		}
		seen[token] = true
	}
	return nil
}
