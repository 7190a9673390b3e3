// Command measure measures octet beside what people would use instead.
//
//	measure list                                            what can be measured, as bench/SAMPLES.md says
//	measure run --row ROW --subject SUBJECT --seconds S     one subject once
//	measure all [--rows PATTERN] [--rounds N] [--seconds S] everything, interleaved, and the report
//	measure report [--raw FILE] [--report DIR]              the report again, from samples that were kept
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/octet-dev/octet/bench/call"
	"github.com/octet-dev/octet/bench/codec"
	"github.com/octet-dev/octet/bench/driver"
	"github.com/octet-dev/octet/bench/oup"
	"github.com/octet-dev/octet/bench/product"
	"github.com/octet-dev/octet/bench/sample"
	"github.com/octet-dev/octet/process/guard"
)

func runs() []sample.Run {
	return slices.Concat(codec.Runs(), call.Runs(), product.Runs(), oup.Runs())
}

func main() {
	guard.Main()
	call.Child()
	product.Child()
	guard.Install()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := dispatch(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func dispatch(ctx context.Context, arguments []string) error {
	word := "all"
	if len(arguments) > 0 {
		word = arguments[0]
	}
	switch word {
	case "list":
		return list()
	case "run":
		return run(ctx, arguments[1:])
	case "all":
		return all(ctx, arguments[min(1, len(arguments)):])
	case "report":
		return again(arguments[1:])
	}
	return fmt.Errorf("unknown command %q: use list, run, all or report", word)
}

func list() error {
	lines := json.NewEncoder(os.Stdout)
	lines.SetEscapeHTML(false)
	for _, one := range runs() {
		if err := lines.Encode(driver.Subject{Row: one.Row, Subject: one.Subject, Rounds: one.Rounds}); err != nil {
			return err
		}
	}
	return nil
}

func run(ctx context.Context, arguments []string) error {
	flags := pflag.NewFlagSet("measure run", pflag.ContinueOnError)
	row := flags.String("row", "", "the row")
	subject := flags.String("subject", "", "the subject")
	seconds := flags.Float64("seconds", 3, "how long, about")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	known := runs()
	at := slices.IndexFunc(known, func(r sample.Run) bool { return r.Row == *row && r.Subject == *subject })
	if at < 0 {
		return fmt.Errorf("there is no subject %q in row %q: measure list shows them", *subject, *row)
	}
	out := bufio.NewWriter(os.Stdout)
	var broken error
	err := known[at].Do(ctx, time.Duration(*seconds*float64(time.Second)), func(one sample.Sample) {
		one.Row, one.Subject = *row, *subject
		if err := sample.Write(out, one); err != nil {
			broken = err
		}
	})
	if err != nil {
		return err
	}
	if broken != nil {
		return broken
	}
	return out.Flush()
}
