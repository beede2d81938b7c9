// Package e2e tests the whole: real instances of the built program on a real Redis, real clients, a real
// browser, and faults of each kind. It knows of the server what its clients and operators know. All of
// it is in the tests; see the package history for how what clients saw is judged.
package e2e
