import type { Base } from '../base.js';
import type { Resource } from '../kernel/route.js';
import type { Hub } from '../realtime/module.js';
import { type MemoryActions, memoryActions } from './actions.js';
import { memoriesStore } from './queries.js';
import { recall } from './recall.js';
import { memoriesResource, viewMemory } from './routes.js';

export type { MemoryActions } from './actions.js';
export { memoryAbout, memoryText } from './contract.js';

export interface Memories {
  actions: MemoryActions;
  recall(userId: string, lastMessage: string): Promise<string[]>;
  resources(): Resource[];
}

export const openMemories = ({ store, clock }: Base, { hub }: { hub: Hub }): Memories => {
  const rows = memoriesStore(store);
  return {
    actions: memoryActions({
      clock,
      memories: rows,
      saved: (row) => hub.publish(row.user_id, 'memory.saved', viewMemory(row)),
    }),
    recall: (userId, lastMessage) => recall(rows, userId, lastMessage),
    resources: () => [memoriesResource({ clock, rows })],
  };
};
