import type { Recorder } from '../../kernel/contract/audit.js';
import type { Caller } from '../../kernel/contract/endpoint.js';
import type { Operation } from '../../kernel/contract/operation.js';
import { resource } from '../../kernel/route.js';
import type { OperationBeginner } from '../../operations/module.js';
import type { MailAccountsStore } from '../accounts/queries.js';
import { findMailAccount } from '../accounts/service.js';
import { type MailProcessing, mailprocessing } from './contract.js';
import type { ProcessingInput } from './operation.js';

interface ProcessingRoutesDeps {
  accounts: MailAccountsStore;
  operations: OperationBeginner<ProcessingInput>;
}

export const processingResource = (deps: ProcessingRoutesDeps) =>
  resource('mailprocessing', mailprocessing, {
    process: ({ body }, by) => beginProcessing(deps, by, body),
  });

const beginProcessing = async (
  { accounts, operations }: ProcessingRoutesDeps,
  by: Caller & Recorder,
  params: MailProcessing,
): Promise<Operation> => {
  const { userId } = by;
  const { accountId = null, folder = null, since = null } = params;
  const account =
    accountId === null ? null : await findMailAccount({ accounts }, userId, accountId);
  return operations.begin(
    {
      userId,
      resource: account ? { kind: 'mailaccount', id: account.id } : { kind: 'user', id: userId },
      title: `Process new e-mails${account ? ` of ${account.address}` : ''}`,
      input: { accountId, folder, since },
      progress: { total: null, unit: 'messages' },
    },
    [by.record({ target: accountId ?? userId, data: { ...params } })],
  );
};
