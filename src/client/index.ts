export type { Agent } from '../resources/agents/contract.js';
export type { Login, User } from '../resources/auth/contract.js';
export type { Execution, Hook } from '../resources/hooks/contract.js';
export type { Notification } from '../resources/notifications/contract.js';
export type { Passkey } from '../resources/passkeys/contract.js';
export type { Session } from '../resources/sessions/contract.js';
export { type Client, contracts, createClient, type Message } from './client.js';
export { ApiError, Unreachable } from './errors.js';
