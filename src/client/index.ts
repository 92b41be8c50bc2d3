export { type Client, type ClientOptions, contracts, createClient } from './client.js';
export { ApiError, type ProblemBody, Unreachable } from './errors.js';
