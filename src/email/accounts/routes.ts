import type { MailTriggers } from '../../hooks/module.js';
import type { Caller } from '../../kernel/contract/endpoint.js';
import { resource } from '../../kernel/route.js';
import { type MailAccountRow, mailAccountTable } from '../../store/tables/mail.js';
import { viewer } from '../../store/view.js';
import type { MailAccess } from './access.js';
import { type RecordMailTest, testMailAccount } from './accounttest.js';
import { MailAccount, type MailAccountTest, mailaccounts } from './contract.js';
import { listMailFolders } from './folders.js';
import {
  addMailAccount,
  findMailAccount,
  findServers,
  type MailAccountsDeps,
  removeMailAccount,
  updateMailAccount,
} from './service.js';

interface AccountRoutesDeps {
  service: MailAccountsDeps;
  access: MailAccess;
  sending: {
    recordTest: RecordMailTest;
    hurry(accountId: string): void;
  };
  maySend(userId: string): Promise<boolean>;
  triggers: Pick<MailTriggers, 'boundTo'>;
}

const viewMailAccount: (row: MailAccountRow) => MailAccount = viewer(
  mailAccountTable,
  MailAccount,
  {},
);

export const mailAccountsResource = (deps: AccountRoutesDeps) => {
  const { service } = deps;
  return resource('mailaccounts', mailaccounts, {
    list: async ({ query }, { userId }) => {
      const page = await service.accounts.list(userId, query);
      return { accounts: page.rows.map(viewMailAccount), nextCursor: page.nextCursor };
    },
    create: async ({ body }, by) => viewMailAccount(await addMailAccount(service, by, body)),
    get: async ({ id }, { userId }) => viewMailAccount(await findMailAccount(service, userId, id)),
    update: async ({ id, body }, by) =>
      viewMailAccount(await updateMailAccount(service, by, { id, given: body })),
    delete: ({ id, query }, by) =>
      removeMailAccount(deps, by, { id, isForced: query.force === true }),
    test: ({ id }, by) => testAccount(deps, by, id),
    folders: async ({ id }, by) => {
      const { accounts } = service;
      return listMailFolders({ clock: deps.service.clock, accounts, access: deps.access }, by, id);
    },
    servers: ({ body }, { signal }) => findServers(service, body, signal),
  });
};

const testAccount = async (
  deps: AccountRoutesDeps,
  { userId, signal }: Caller,
  id: string,
): Promise<MailAccountTest> => {
  const account = await findMailAccount(deps.service, userId, id);
  const maySend = await deps.maySend(userId);
  const { recordTest } = deps.sending;
  const trial = { clock: deps.service.clock, access: deps.access, recordTest };
  const { steps, authservId } = await testMailAccount(trial, account, { maySend, signal });
  const isArrived = steps.some(({ step, status }) => step === 'arrival' && status === 'ok');
  if (isArrived) await deps.service.accounts.note(account, { authserv_id: authservId });
  const after = await findMailAccount(deps.service, userId, id);
  const ok = steps.every(({ status }) => status !== 'failed');
  return { ok, steps, account: viewMailAccount(after) };
};
