package groupcommit_test

import (
	"context"
	"fmt"

	"muster/internal/groupcommit"
)

func Example() {
	squares := groupcommit.New(groupcommit.Options{Max: 100},
		func(_ context.Context, batch []int) (results []int, again bool, err error) {
			for _, n := range batch { // one round trip for all of them
				results = append(results, n*n)
			}
			return results, false, nil
		})
	ctx := context.Background()
	if err := squares.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}
	defer squares.Stop()
	fmt.Println(squares.Do(ctx, 7))
	// Output: 49 <nil>
}
