// Carrel lets one person run many coding agents in parallel, each at its own desk.
package main

func main() {}
