import type { Base } from '../base.js';
import { sessionsStore } from './queries.js';
import { sessionsResource } from './routes.js';

/** Opens the messages between users and agents, in their order. */
export const openConversations = ({ store }: Base) => ({
  resources: () => [sessionsResource({ sessions: sessionsStore(store) })],
});
