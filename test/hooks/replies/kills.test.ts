import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { addHook, type Owner, registerOwner } from '../../harness/account.js';
import { sign, until } from '../../harness/app.js';
import { type Daemon, startDaemon } from '../../harness/daemon.js';
import { type Forge, openForge } from '../../harness/forge.js';
import { SECRET } from '../../harness/hooks.js';
import { type Openai, says, startOpenai } from '../../harness/openai.js';
import { ISSUE } from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const LOST = 'the daemon ended before the answer was recorded';

describe('a reply whose daemon is killed', () => {
  let home: string;
  let daemon: Daemon;
  let forge: Forge;
  let model: Openai;
  let owner: Owner;
  let hookId: string;
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'adjutant-test-'));
    forge = await openForge();
    model = await startOpenai();
    await start();
    owner = await registerOwner(daemon.url);
    const credential = { name: 'bot', value: 'token-of-the-bot', allowedHosts: [forge.address] };
    const { id: credentialId } = await owner.vault.create({ body: credential });
    hookId = await addHook(owner, {
      ...{ name: 'issues', path: 'issues', secret: SECRET, action: 'spawn_agent' },
      actionConfig: {
        agentPrompt: 'Answer.',
        reply: { preset: 'github', credentialId, url: forge.url },
      },
    });
  });
  after(async () => {
    await daemon?.end('SIGKILL');
    forge?.close();
    await model?.stop();
    if (home) await rm(home, { recursive: true, force: true });
  });

  const start = async (): Promise<void> => {
    const env = {
      ADJUTANT_MODEL_URL: model.baseUrl,
      ADJUTANT_MODEL_NAME: 'fake',
      ADJUTANT_EGRESS_ALLOW: '127.0.0.1',
    };
    daemon = await startDaemon({ home, env });
    owner = owner?.with({ url: daemon.url });
  };
  const deliver = (nth: number) => {
    const body = JSON.stringify(ISSUE);
    const headers = {
      'x-hub-signature-256': sign(SECRET, body),
      'x-github-delivery': `delivery-${nth}`,
    };
    return fetch(`${daemon.url}/api/webhooks/issues`, {
      method: 'POST',
      body,
      headers: { ...headers, 'content-type': 'application/json' },
    });
  };
  /** Kills the daemon once `reached` is called, and starts it again. */
  const killedAt = async (nth: number, place: (reached: () => void) => void): Promise<void> => {
    const reached = new Promise<void>((resolve) => place(resolve));
    await deliver(nth);
    await reached;
    await daemon.end('SIGKILL');
    forge.before = () => false;
    await start();
  };
  const ended = async (count: number) => {
    const { replies } = await until(
      () => owner.hooks.replies({ id: hookId, query: {} }),
      (found) => found.replies.length === count && found.replies[0]?.finishedAt !== null,
    );
    return replies[0];
  };

  it('is posted once by the next start if the agent had not ended', async () => {
    await killedAt(1, (reached) => {
      model.script(() => reached(), says({ text: 'One' }));
    });
    expect(await ended(1)).to.include({ status: 'sent', attempts: 1 });
    expect(forge.comments.length).to.equal(1);
  });

  it('is unknown, and not posted again, if the platform had the request', async () => {
    for (const [nth, isStored] of [false, true].entries()) {
      forge.comments = [];
      model.script(says({ text: 'Two' }));
      await killedAt(2 + nth, (reached) => {
        forge.before = ({ path, body }) => {
          if (isStored) forge.comments.push({ id: '1', at: path, text: body.body });
          reached();
          return true;
        };
      });
      expect(await ended(2 + nth)).to.include({ status: 'unknown', attempts: 1, error: LOST });
      expect(forge.comments.length).to.equal(isStored ? 1 : 0);
    }
    const kinds = (await owner.notifications.list({ query: {} })).notifications;
    expect(kinds.filter(({ kind }) => kind === 'delivery_unknown').length).to.equal(2);
    // A person sends it again.
    const lost = await ended(3);
    await owner.hooks['resend-reply']({ id: hookId, replyId: lost?.id ?? '' });
    await until(
      () => ended(3),
      (reply) => reply?.status === 'sent',
    );
    expect(forge.comments.length).to.equal(2);
  });
});
