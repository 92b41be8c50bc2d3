import type { Base } from '../base.js';
import type { Documents } from '../documents/module.js';
import type { Hooks } from '../hooks/module.js';
import { createFairQueue } from '../kernel/fairqueue.js';
import type { Resource } from '../kernel/route.js';
import type { Operations } from '../operations/module.js';
import type { Outbound } from '../outbound/module.js';
import type { PermissionsOf } from '../permissions/module.js';
import { createFindMailServers } from '../providers/mail/autoconfig.js';
import type { VaultModule } from '../vault/module.js';
import { createMailAccess } from './accounts/access.js';
import { createCheckMailFolder } from './accounts/folders.js';
import { mailAccountsStore } from './accounts/queries.js';
import { mailAccountsResource } from './accounts/routes.js';
import { createMailTokens } from './accounts/tokens.js';
import { emailActions } from './actions.js';
import { mailDraftsStore } from './drafts/queries.js';
import { mailDraftsResource } from './drafts/routes.js';
import { createFreshness } from './messages/freshness.js';
import { mailMessagesStore } from './messages/queries.js';
import { mailResource } from './messages/routes.js';
import type { MailTurns } from './messages/service.js';
import { processOperation } from './processing/operation.js';
import { processingStore } from './processing/queries.js';
import { processingResource } from './processing/routes.js';
import { createMailSorting, type MailSortingDeps } from './processing/sort.js';
import { createFindBounces } from './sending/bounce.js';
import { openMailSending } from './sending/open.js';
import { bouncedMailStore } from './sending/queries.js';
import { FOLDER_WATCH_TIMES } from './watch/folderwatch.js';
import { createMailWatcher, RECONNECT_TIMES } from './watch/watcher.js';

interface EmailModuleDeps {
  vault: VaultModule;
  outbound: Outbound;
  permissionsOf: PermissionsOf;
  operations: Operations;
  mail: {
    hooks: Pick<Hooks, 'mailTriggers'>;
    documents: Pick<Documents, 'originals' | 'arrivals'>;
    questions: MailSortingDeps;
    /** 0: no limit. */
    perHour: number;
  };
}

/** Permission to send e-mail. */
const RIGHT = 'email';

const UNLIMITED = { atOnce: Number.POSITIVE_INFINITY, waiting: Number.POSITIVE_INFINITY };

export const openEmail = (base: Base, deps: EmailModuleDeps) => {
  const { store, clock, log, http } = base;
  const { vault, renew } = deps.vault;
  const { outbox } = deps.outbound;
  const accounts = mailAccountsStore(store);
  const tokens = createMailTokens({ clock, log, http, vault, renew });
  const access = createMailAccess({ clock, http, accounts, outbox, tokens });
  const findServers = createFindMailServers(http);
  const messages = mailMessagesStore(store);
  const turns = createFairQueue({ ...UNLIMITED, each: 1, isOldestFirst: true });
  const inTurn: MailTurns = (id, work) => turns.take(id, work);
  const take = {
    clock,
    inbox: processingStore(store),
    triggers: deps.mail.hooks.mailTriggers,
    sort: createMailSorting(clock, deps.mail.questions),
    findBounces: createFindBounces({ sent: bouncedMailStore(store), outbox }),
  };
  const visits = { take, clock, messages, accounts, access, inTurn };
  const operations = deps.operations.register(processOperation(visits));
  const service = { clock, http, accounts, vault, findServers };
  const maySend = async (userId: string): Promise<boolean> =>
    (await deps.permissionsOf(userId)).may(RIGHT);
  const times = { ...FOLDER_WATCH_TIMES, ...RECONNECT_TIMES };
  const sending = openMailSending(base, {
    outbound: deps.outbound,
    access,
    mailbox: { accounts, messages },
    files: deps.mail.documents.originals,
    isPermitted: maySend,
    perHour: deps.mail.perHour,
  });
  const reading = {
    sync: { clock, messages },
    accounts,
    access,
    inTurn,
    keepFresh: createFreshness(clock),
  };
  const writing = { clock, drafts: mailDraftsStore(store), sending: sending.sending };
  return {
    actions: emailActions({ messages: reading, drafts: writing }),
    checkFolder: createCheckMailFolder({ clock, accounts, access }),
    watcher: createMailWatcher({ store, log, accounts, visits, times }),
    resources: (): Resource[] => [
      mailAccountsResource({ service, access, sending, maySend, triggers: take.triggers }),
      mailResource(reading, deps.mail.documents.arrivals),
      processingResource({ accounts, operations }),
      ...sending.resources(),
      mailDraftsResource(writing),
    ],
  };
};
