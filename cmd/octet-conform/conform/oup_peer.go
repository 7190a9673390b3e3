package conform

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/octet-dev/octet/features/oupclient"
	"github.com/octet-dev/octet/features/oupreferee"
	"github.com/octet-dev/octet/features/oupserver"
	"github.com/octet-dev/octet/features/report"
)

// headerWait bounds how long a connection may take to say what it wants.
const headerWait = 10 * time.Second

// faultyServer is one of the OUP servers that prove the referee, as a process of its own.
func (inv *invocation) faultyServer() int {
	f := inv.flags()
	port := f.Int("port", 0, "serve WebSocket there on 127.0.0.1, in place of standard streams")
	if code, ok := inv.parse(f); !ok {
		return code
	}
	fault, found := oupserver.Find(noneIsEmpty(f.Arg(0)))
	if f.NArg() != 1 || !found {
		return inv.wrong("%s needs the name of a fault, or none", oupreferee.ServerWord)
	}
	server := oupserver.New(fault, 0)
	if *port == 0 {
		server.ServeStdio(inv.stdin, inv.stdout)
		return report.ExitClean
	}
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", *port))
	if err != nil {
		return inv.unable(err)
	}
	web := &http.Server{Handler: server, ReadHeaderTimeout: headerWait}
	go func() {
		<-inv.ctx.Done()
		_ = web.Close()
	}()
	_ = web.Serve(l) // until it is closed
	return report.ExitClean
}

// faultyClient is one of the OUP clients that prove the referee, as a process of its own.
func (inv *invocation) faultyClient() int {
	f := inv.flags()
	url := f.String("url", "", "WebSocket address; without one its standard streams are the wire")
	cfg := oupclient.Config{}
	f.StringVar(&cfg.Token, "token", "", "")
	f.StringVar(&cfg.Session, "session", "", "")
	f.StringVar(&cfg.Prompt, "prompt", "", "")
	f.StringVar(&cfg.Decision, "decision", "approve", "")
	if code, ok := inv.parse(f); !ok {
		return code
	}
	var found bool
	if cfg.Fault, found = oupclient.Find(noneIsEmpty(f.Arg(0))); f.NArg() != 1 || !found {
		return inv.wrong("%s needs the name of a fault, or none", oupreferee.ClientWord)
	}
	if cfg.URL = *url; cfg.URL != "" {
		return oupclient.Run(inv.ctx, cfg, nil, nil, inv.stdout)
	}
	return oupclient.Run(inv.ctx, cfg, inv.stdin, inv.stdout, os.Stderr)
}

func noneIsEmpty(name string) string {
	if name == "none" {
		return ""
	}
	return name
}
