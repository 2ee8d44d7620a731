// Package proof holds what is too slow or needs too much for the tests of package
// bloom itself: its linearizability, checked on recorded histories, in this folder;
// every order in which the steps of its adds can run, in interleavings; a broken
// version of the code for each of its tests to catch, in twins; a soak program, in soak.
// docs/guarantees.md says what each has shown.
package proof
