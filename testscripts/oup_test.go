package testscripts

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/coder/websocket"
)

// oup is a client of OUP that plays a conversation:
//
//	oup FILE COMMAND ARG...
//
// starts a server and carries out the lines of FILE, in which ${NAME} is a variable:
//
//	> FRAME             sends a frame
//	< REGEXP            the next frame must match; named groups become variables
//	... REGEXP          frames are read until one matches; none before may match a line "never REGEXP";
//	                    never without one takes those back
//	end                 the input of the server ends
//	signal TERM         the server gets a signal
//	exit CODE           the server ends, by itself, with a code
//	stderr REGEXP       a line of standard error is waited for
//	dial PATH [STATUS] [HEADER: VALUE]...
//	                    a WebSocket is opened, at the address that standard error told; the frames are those of it now
//	secret FILE         the token of a work secret becomes the variable token
//	run CODE COMMAND... runs another program beside the server; its standard error can be waited for
//	get PATH STATUS REGEXP
//	close               the WebSocket is closed
//	closed CODE         the server closes the WebSocket
//
// A conversation takes no longer than mostTalk. What does not hold is told on standard error, and the code is 1.
func oup() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: oup FILE COMMAND ARG...")
		os.Exit(2)
	}
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	p, err := newPlayer(os.Args[2:])
	if err == nil {
		err = p.play(os.Args[1], string(text))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		if p != nil {
			_ = p.server.Process.Kill()
			_ = p.server.Wait()
			fmt.Fprintln(os.Stderr, strings.Join(p.told, "\n"))
		}
		os.Exit(1)
	}
}

// mostTalk is far more than a conversation takes.
const mostTalk = 5 * time.Minute

// player plays one conversation.
type player struct {
	server    *exec.Cmd
	in        io.WriteCloser
	frames    chan frame
	errors    chan string
	told      []string // on standard error
	exited    chan error
	socket    *websocket.Conn
	variables map[string]string
	never     []*regexp.Regexp
	ctx       context.Context
}

type frame struct {
	text string
	err  error
}

func newPlayer(command []string) (*player, error) {
	ctx, cancel := context.WithTimeout(context.Background(), mostTalk)
	context.AfterFunc(ctx, func() { fmt.Fprintln(os.Stderr, "oup: the time is over"); cancel() })
	p := &player{
		server: exec.Command(command[0], command[1:]...), frames: make(chan frame, 1<<16), errors: make(chan string, 1<<12),
		exited: make(chan error, 1), variables: map[string]string{}, ctx: ctx,
	}
	out, err := p.server.StdoutPipe()
	if err != nil {
		return nil, err
	}
	stderr, err := p.server.StderrPipe()
	if err != nil {
		return nil, err
	}
	if p.in, err = p.server.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.server.Start(); err != nil {
		return nil, err
	}
	read := make(chan bool, 2)
	go func() {
		lines := bufio.NewReader(out)
		for {
			line, err := lines.ReadString('\n')
			if line != "" {
				p.frames <- frame{text: strings.TrimSuffix(line, "\n")}
			}
			if err != nil {
				break
			}
		}
		read <- true
	}()
	go func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			p.errors <- lines.Text()
		}
		read <- true
	}()
	go func() {
		<-read
		<-read
		p.exited <- p.server.Wait()
	}()
	return p, nil
}

func (p *player) play(name, text string) error {
	for i, line := range strings.Split(text, "\n") {
		line = os.Expand(strings.TrimSpace(line), func(name string) string { return p.variables[name] })
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		if err := p.do(word, rest); err != nil {
			return fmt.Errorf("%s:%d: %s: %w", name, i+1, line, err)
		}
	}
	return nil
}

func (p *player) do(word, rest string) error {
	switch word {
	case ">":
		return p.send(rest)
	case "<", "...":
		return p.want(rest, word == "...")
	case "never":
		if rest == "" {
			p.never = nil
			break
		}
		p.never = append(p.never, regexp.MustCompile(rest))
	case "end":
		return p.in.Close()
	case "signal":
		return p.server.Process.Signal(map[string]os.Signal{"TERM": syscall.SIGTERM, "INT": os.Interrupt, "KILL": os.Kill}[rest])
	case "exit":
		return p.exit(rest)
	case "stderr":
		return p.stderr(rest)
	case "run":
		return p.run(strings.Fields(rest))
	case "secret":
		return p.secret(rest)
	case "dial":
		return p.dial(strings.Fields(rest))
	case "get":
		path, rest, _ := strings.Cut(rest, " ")
		status, pattern, _ := strings.Cut(rest, " ")
		return p.get(path, status, pattern)
	case "close":
		return p.socket.Close(websocket.StatusNormalClosure, "")
	case "closed":
		return p.closed(rest)
	default:
		return errors.New("unknown word")
	}
	return nil
}

func (p *player) send(text string) error {
	if p.socket != nil {
		return p.socket.Write(p.ctx, websocket.MessageText, []byte(text))
	}
	_, err := io.WriteString(p.in, text+"\n")
	return err
}

func (p *player) next() (string, error) {
	if p.socket != nil {
		_, text, err := p.socket.Read(p.ctx)
		return string(text), err
	}
	select {
	case f := <-p.frames:
		return f.text, f.err
	case <-p.ctx.Done():
		return "", p.ctx.Err()
	case err := <-p.exited:
		p.exited <- err
		select {
		case f := <-p.frames: // written before it ended
			return f.text, f.err
		default:
			return "", fmt.Errorf("the server has ended: %v", err)
		}
	}
}

func (p *player) want(pattern string, later bool) error {
	want, err := regexp.Compile(pattern)
	if err != nil {
		return err
	}
	for {
		got, err := p.next()
		if err != nil {
			return err
		}
		if found := want.FindStringSubmatch(got); found != nil {
			for i, name := range want.SubexpNames() {
				if name != "" {
					p.variables[name] = found[i]
				}
			}
			return nil
		}
		if !later {
			return fmt.Errorf("got %s", got)
		}
		for _, never := range p.never {
			if never.MatchString(got) {
				return fmt.Errorf("got %s", got)
			}
		}
	}
}

func (p *player) exit(code string) error {
	select {
	case err := <-p.exited:
		p.exited <- err
	case <-p.ctx.Done():
		return p.ctx.Err()
	}
	for len(p.errors) > 0 {
		p.told = append(p.told, <-p.errors)
	}
	if got := strconv.Itoa(p.server.ProcessState.ExitCode()); got != code {
		return fmt.Errorf("it ended with %s", got)
	}
	fmt.Fprint(os.Stderr, strings.Join(append(p.told, ""), "\n"))
	return nil
}

func (p *player) stderr(pattern string) error {
	want, err := regexp.Compile(pattern)
	if err != nil {
		return err
	}
	for {
		select {
		case line := <-p.errors:
			p.told = append(p.told, line)
			if found := want.FindStringSubmatch(line); found != nil {
				for i, name := range want.SubexpNames() {
					if name != "" {
						p.variables[name] = found[i]
					}
				}
				return nil
			}
		case <-p.ctx.Done():
			return p.ctx.Err()
		}
	}
}

func (p *player) run(words []string) error {
	beside := exec.CommandContext(p.ctx, words[1], words[2:]...)
	var told strings.Builder
	beside.Stderr = &told
	err := beside.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		return err
	}
	for line := range strings.Lines(told.String()) {
		p.errors <- strings.TrimSuffix(line, "\n")
	}
	if got := strconv.Itoa(beside.ProcessState.ExitCode()); got != words[0] {
		return fmt.Errorf("it ended with %s: %s", got, told.String())
	}
	return nil
}

// secret reads what octet auth issue-work-secret printed.
func (p *player) secret(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	document, err := base64.RawURLEncoding.DecodeString(strings.TrimSpace(string(text)))
	if err != nil {
		return err
	}
	var secret struct {
		Token string `json:"session_ingress_token"`
	}
	err = json.Unmarshal(document, &secret)
	p.variables["token"] = secret.Token
	return err
}

// dial opens a WebSocket. Words with a colon at their end are headers, and take the next word.
func (p *player) dial(words []string) error {
	o := &websocket.DialOptions{HTTPHeader: http.Header{}}
	status := http.StatusSwitchingProtocols
	for i := 1; i < len(words); i++ {
		if name, is := strings.CutSuffix(words[i], ":"); is && i+1 < len(words) {
			o.HTTPHeader.Add(name, strings.ReplaceAll(words[i+1], "+", " "))
			i++
			continue
		}
		var err error
		if status, err = strconv.Atoi(words[i]); err != nil {
			return err
		}
	}
	conn, response, err := websocket.Dial(p.ctx, "ws://"+p.variables["address"]+words[0], o)
	if response == nil {
		return err
	}
	if response.StatusCode != status {
		return fmt.Errorf("status %d, want %d", response.StatusCode, status)
	}
	if conn != nil {
		conn.SetReadLimit(-1)
		p.socket = conn
	}
	return nil
}

func (p *player) get(path, status, pattern string) error {
	request, err := http.NewRequestWithContext(p.ctx, http.MethodGet, "http://"+p.variables["address"]+path, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if strconv.Itoa(response.StatusCode) != status || !regexp.MustCompile(pattern).Match(body) {
		return fmt.Errorf("status %d, %s", response.StatusCode, body)
	}
	return nil
}

func (p *player) closed(code string) error {
	for {
		_, _, err := p.socket.Read(p.ctx)
		if err == nil {
			continue
		}
		if got := websocket.CloseStatus(err); strconv.Itoa(int(got)) != code {
			return fmt.Errorf("closed with %d: %w", got, err)
		}
		return nil
	}
}
