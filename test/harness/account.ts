import { createClient } from '../../src/client/client.js';

export interface NewHook {
  name: string;
  path: string;
  secret: string;
  action: 'spawn_agent' | 'notify' | 'webhook' | 'execute_tool';
  actionConfig: Record<string, unknown>;
  conditions?: { field: string; operator: 'exists' }[];
  concurrency?: number;
}

const PASSWORD = 'correct horse battery';

export const registerOwner = async (url: string) => {
  const client = createClient({ url });
  const body = { username: 'owner', password: PASSWORD };
  const { token } = await client.auth.register({ body });
  return client.with({ token });
};

export const loginOwner = async (url: string) => {
  const client = createClient({ url });
  const { token } = await client.auth.login({ body: { username: 'owner', password: PASSWORD } });
  return client.with({ token });
};

export type Owner = Awaited<ReturnType<typeof registerOwner>>;

/** Creates a hook with a webhook path. Resolves to its id. */
export const addHook = async (owner: Owner, hook: NewHook): Promise<string> => {
  const { name, path, secret, action, actionConfig, conditions, concurrency } = hook;
  const { id } = await owner.hooks.create({
    body: {
      name,
      trigger: 'webhook',
      triggerConfig: { webhookPath: path, webhookSecret: secret },
      action,
      actionConfig,
      ...(conditions && { conditions }),
      ...(concurrency && { concurrency }),
    },
  });
  return id;
};
