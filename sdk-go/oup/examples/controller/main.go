// Command controller has a server carry out a turn, lets its tools do what they ask for, and prints the result:
//
//	controller "How many files are here?" octet serve --stdio
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/octet-dev/octet/sdk-go/oup"
)

func main() {
	ctx := context.Background()
	client, err := oup.Stdio(ctx, os.Args[2:], oup.Options{OnApproval: approve})
	check(err)
	defer client.Close()
	session, err := client.Open(ctx, "local:controller", oup.OpenOptions{})
	check(err)
	turn, err := session.Turn(ctx, os.Args[1])
	check(err)
	result, err := turn.Result(ctx)
	check(err)
	fmt.Printf("%s: %s\n", result.Outcome, result.Text)
}

func approve(_ context.Context, request oup.Approval) (oup.Decision, error) {
	fmt.Printf("%s may run: %s\n", request.ToolName, request.Body)
	return oup.Decision{Approve: true}, nil
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
