// Stands in for the package "server-only" where there is no bundler to check it: tests and the command line.
export {};
