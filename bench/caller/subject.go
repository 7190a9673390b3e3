//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// subject is a running program at the other end of two pipes. The pipes block: a wait costs one system call, and no
// scheduler of ours stands between the answer and the clock.
type subject struct {
	command  *exec.Cmd
	to, from int
	limit    *time.Timer
	headers  bool
	buffer   []byte
	held     []byte // what has been read and belongs to no message that was returned
}

func start(p plan) (*subject, error) {
	var in, out [2]int
	if err := errors.Join(syscall.Pipe2(in[:], syscall.O_CLOEXEC), syscall.Pipe2(out[:], syscall.O_CLOEXEC)); err != nil {
		return nil, fmt.Errorf("pipes: %w", err)
	}
	stdin, stdout := os.NewFile(uintptr(in[0]), "stdin"), os.NewFile(uintptr(out[1]), "stdout")
	command := exec.Command(p.Command[0], p.Command[1:]...)
	command.Stdin, command.Stdout, command.Stderr = stdin, stdout, os.Stderr
	command.Env = append(os.Environ(), p.Environment...)
	err := command.Start()
	err = errors.Join(err, stdin.Close(), stdout.Close())
	s := &subject{command: command, to: in[1], from: out[0], headers: p.Framing == "headers", buffer: make([]byte, 4<<20)}
	if err != nil {
		s.close()
		return nil, fmt.Errorf("%q does not start: %w", p.Command[0], err)
	}
	s.limit = time.AfterFunc(patience+4*p.duration(), func() { _ = command.Process.Kill() })
	return s, nil
}

// patience is how long a program may take beyond its time: then it is ended, and its answer is missed.
const patience = 30 * time.Second

// close ends the input of the program and waits for it.
func (s *subject) close() {
	_ = syscall.Close(s.to)
	_ = syscall.Close(s.from)
	if s.limit != nil {
		s.limit.Stop()
	}
	if s.command.Process != nil {
		_ = s.command.Process.Kill()
		_ = s.command.Wait()
	}
}

func (s *subject) open(p plan) error {
	for _, step := range p.Opening {
		if err := s.write(p.frame([]byte(step.Send))); err != nil {
			return err
		}
		if !step.Answered {
			continue
		}
		answer, err := s.read()
		if err != nil {
			return err
		}
		if bytes.Contains(answer, []byte(`"error"`)) {
			return fmt.Errorf("the opening is refused: %.300q", answer)
		}
	}
	return nil
}

func (s *subject) write(frame []byte) error {
	for len(frame) > 0 {
		count, err := syscall.Write(s.to, frame)
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return fmt.Errorf("the program reads no more: %w", err)
		}
		frame = frame[max(count, 0):]
	}
	return nil
}

// read returns the next message, which stays valid until the next read.
func (s *subject) read() ([]byte, error) {
	looked := 0
	for {
		message, rest := s.cut(looked)
		if message != nil {
			s.held = rest
			return message, nil
		}
		looked = len(s.held)
		if err := s.fill(); err != nil {
			return nil, err
		}
	}
}

func (s *subject) fill() error {
	if len(s.held) == len(s.buffer) {
		return errors.New("a message of the program is too long")
	}
	// What is held moves to the front only where the end of the buffer is near: most answers empty it.
	if len(s.held) == 0 {
		s.held = s.buffer[:0]
	} else if cap(s.held)-len(s.held) < 1<<16 {
		s.held = s.buffer[:copy(s.buffer, s.held)]
	}
	for {
		count, err := syscall.Read(s.from, s.held[len(s.held):cap(s.held)])
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err == nil && count == 0 {
			err = io.EOF
		}
		if err != nil {
			return fmt.Errorf("the program answers no more: %w", err)
		}
		s.held = s.held[:len(s.held)+count]
		return nil
	}
}

// cut takes one message off what is held, nil where it is not complete. What was looked at before holds no line feed.
func (s *subject) cut(looked int) (message, rest []byte) {
	if !s.headers {
		end := bytes.IndexByte(s.held[looked:], '\n')
		if end < 0 {
			return nil, s.held
		}
		return s.held[:looked+end], s.held[looked+end+1:]
	}
	head, body, complete := bytes.Cut(s.held, []byte("\r\n\r\n"))
	if !complete {
		return nil, s.held
	}
	length := 0
	for line := range bytes.SplitSeq(head, []byte("\r\n")) {
		if name, value, _ := bytes.Cut(line, []byte(":")); bytes.EqualFold(name, []byte("Content-Length")) {
			length, _ = strconv.Atoi(string(bytes.TrimSpace(value)))
		}
	}
	if len(body) < length {
		return nil, s.held
	}
	return body[:length], body[length:]
}
