import type Boom from '@hapi/boom';
import type { Http } from '../../kernel/http.js';
import { badRequest } from '../../kernel/route.js';
import { secretFault } from '../../secrets/module.js';
import type { Vault } from '../../vault/module.js';
import type { WebhooksStore } from './queries.js';

export const checkUrl = ({ http }: { http: Http }, url: string): void => {
  try {
    http.check(url);
  } catch (error) {
    throw refused('url', error instanceof Error ? error.message : String(error));
  }
};

export const checkSecret = (input: { secret?: string; credentialId?: string }): void => {
  const { secret, credentialId } = input;
  if (secret === undefined) return;
  if (credentialId !== undefined) {
    throw refused('credentialId', 'cannot be combined with secret');
  }
  const fault = secretFault(secret);
  if (fault !== null) throw refused('secret', fault);
};

export const checkWebhookCredential = async (
  { webhooks, vault }: { webhooks: WebhooksStore; vault: Pick<Vault, 'newest'> },
  userId: string,
  id: string | undefined,
): Promise<void> => {
  if (id === undefined) return;
  const credential = await webhooks.credential(userId, id);
  if (!credential) throw refused('credentialId', 'does not match any of your credentials');
  if (credential.type !== 'webhook_secret') {
    throw refused('credentialId', 'must name a credential of type webhook_secret');
  }
  const value = await vault.newest(id);
  if (value === null) throw refused('credentialId', 'refers to an expired credential');
  const fault = secretFault(value, true);
  if (fault !== null) throw refused('credentialId', fault);
};

const refused = (path: string, message: string): Boom.Boom => badRequest([{ path, message }]);
