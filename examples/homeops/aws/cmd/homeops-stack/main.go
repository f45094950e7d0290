// Command homeops-stack writes the CloudFormation template of homeops to standard
// output. The environment is the service's. Only the names of the tables,
// DYNAMO_TTL_DAYS, MESSAGES_TTL_DAYS, QUIET_HOURS and TELEGRAM_API_URL go into the
// template.
package main

import (
	"fmt"
	"os"

	"github.com/homeops/ddbpatterns/examples/homeops/aws/stack"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
)

func main() {
	cfg, err := config.Load(os.LookupEnv)
	if len(os.Args) > 1 {
		err = fmt.Errorf("takes no arguments, was given %q: set the parameters of the stack when you deploy it", os.Args[1:])
	}
	if err == nil {
		err = stack.Write(os.Stdout, cfg)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "homeops-stack: %v\n", err)
		os.Exit(1)
	}
}
