import type { Base } from '../base.js';
import { sessionsStore } from './queries.js';
import { sessionsResource } from './routes.js';

export const openConversations = ({ store }: Base) => ({
  resources: () => [sessionsResource({ sessions: sessionsStore(store) })],
});
