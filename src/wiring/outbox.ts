import type { Resource } from '../kernel/route.js';
import { outboxStore } from '../outbound/messages/queries.js';
import { outboxResource } from '../outbound/messages/routes.js';
import type { Parts } from './parts.js';
import type { Runtime } from './runtime.js';

/** Builds the resource of outbound messages, as admins and owners see them. */
export const outboxOf = ({ store, clock, runtime }: Parts): Resource =>
  outboxResource({
    sendings: outboxStore({ store, clock }),
    added: (lane) => runtime.outgoing.added(lane),
  });

export const outboxGauges = ({ outgoing }: Pick<Runtime, 'outgoing'>) => ({
  outbox_waiting: {
    help: 'What waits to leave: messages, and what is yet to be spread to its targets',
    read: () => outgoing.totals().waiting,
  },
  outbox_running: { help: 'What is leaving now', read: () => outgoing.totals().running },
});
