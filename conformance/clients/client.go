// One call over grpc-go: client TARGET CONFIG METHOD.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	health "google.golang.org/grpc/health/grpc_health_v1"
)

func main() {
	config, err := os.ReadFile(os.Args[2])
	if err != nil {
		panic(err)
	}
	conn, err := grpc.NewClient(os.Args[1], grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultServiceConfig(string(config)))
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	_, err = health.NewHealthClient(conn).Check(ctx, &health.HealthCheckRequest{})
	fmt.Println("the caller gets:", err)
}
