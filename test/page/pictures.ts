import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { sign, until } from '../harness/app.js';
import { askApproval } from '../harness/approval.js';
import { notice, SECRET } from '../harness/hooks.js';
import { projectRoot } from '../harness/sources.js';
import { openPageStage, type PageStage } from './stage.js';

/** Writes the pictures of the page in docs/screens: `npm run screens`. */
const main = async (): Promise<void> => {
  const folder = join(projectRoot(), 'docs/screens');
  mkdirSync(folder, { recursive: true });
  const stage = await openPageStage();
  try {
    const ada = await stage.app.register('ada');
    const id = await prepare(stage, ada);
    for (const [name, viewport] of Object.entries(SIZES)) {
      const { page, open } = await stage.enter('ada', viewport);
      for (const [view, path] of Object.entries({ home: '/', approval: `/approvals/${id}` })) {
        await open(path);
        await page.waitForLoadState('networkidle');
        await page.screenshot({ path: join(folder, `page-${view}-${name}.png`) });
      }
    }
  } finally {
    await stage.stop();
  }
};

const SIZES = { phone: { width: 390, height: 844 }, wide: { width: 1280, height: 800 } };

/** Creates the content of the pictures. Resolves to the id of the approval. */
const prepare = async (
  { app }: PageStage,
  { id, token }: { id: string; token: string },
): Promise<string> => {
  const hook = notice({
    name: 'deploys',
    actionConfig: { notifyMessage: 'Deployed {{webhook.body.ref}}' },
  });
  await app.call('POST', '/api/hooks', { token, body: hook });
  const body = JSON.stringify({ ref: 'v1.4.2', by: 'grace' });
  await app.call('POST', '/api/webhooks/issues', {
    body,
    headers: { 'x-hub-signature-256': sign(SECRET, body) },
  });
  const task = { title: 'Renew the certificate of staging', dueAt: '2026-01-01T09:00:00Z' };
  await app.call('POST', '/api/tasks', { token, body: task });
  await until(
    async () => (await app.call('GET', '/api/notifications', { token })).body.notifications,
    ({ length }) => length > 0,
  );
  return askApproval(app, id, {
    url: 'https://api.example.org/v1/deployments',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ environment: 'production', ref: 'v1.4.2' }),
  });
};

await main();
