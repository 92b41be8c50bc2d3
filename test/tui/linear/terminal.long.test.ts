import { fileURLToPath } from 'node:url';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createClient } from '../../../src/client/index.js';
import { saveSession } from '../../../src/client/session.js';
import { call, type Stage, startStage } from '../../agents/stage.js';
import { openConfig } from '../../cli/config.js';
import { PASSWORD, untilMatches } from '../../harness/app.js';
import { notice } from '../../harness/hooks.js';
import { says } from '../../harness/openai.js';
import { openTmux, type Tmux, tmuxMissing } from '../../harness/tmux.js';
import { readingTime } from '../../harness/turns.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const BIN = fileURLToPath(new URL('../../../../bin/adjutant.js', import.meta.url));
const missing = tmuxMissing();
const where = 'desk line by line in a dumb terminal';
const title = missing === null ? where : `${where} (skipped: ${missing})`;
const HEARD_MS = 900;

describe(title, { skip: missing !== null }, () => {
  let config: Awaited<ReturnType<typeof openConfig>>;
  let stage: Stage;
  let tmux: Tmux;

  before(async () => {
    config = await openConfig();
    stage = await startStage();
    const login = { token: stage.token, username: 'owner', expiresAt: '2126-01-01T00:00:00.000Z' };
    saveSession(stage.url, login);
    await stage.ask('POST', '/api/hooks', notice({ name: 'issues' }));
    const env = { XDG_CONFIG_HOME: config.folder, ADJUTANT_URL: stage.url, TERM: 'dumb' };
    tmux = await openTmux({ width: 120, height: 60, env });
    await tmux.line(`node ${BIN} tui; echo ended $?`);
    await tmux.wait('quit to leave.');
  });

  after(async () => {
    await tmux.close();
    await stage.stop();
    await config.close();
  });

  it('takes no full screen, and rings for a question between two words', async () => {
    expect(await tmux.tell('#{alternate_on} #{cursor_flag}')).to.equal('0 1');
    const request = { method: 'POST', url: `${stage.model.baseUrl}/nowhere`, body: 'hello' };
    stage.model.script(
      says({ text: 'I will ask first.', toolCalls: [call('http_request', request)] }),
      says({ text: 'Done as you said.' }),
    );
    const { id } = await stage.spawn({ prompt: 'Post hello', name: 'poster' });
    await tmux.wait('poster requests approval: http.request, trusted, number 1.');
    await untilMatches(() => tmux.tell('#{window_bell_flag}'), '1');
    await tmux.line('approvals 1');
    await tmux.wait('Without a decision it is denied');
    await tmux.line('approve');
    await tmux.wait('Type y to confirm');
    await readingTime(HEARD_MS);
    await tmux.line('y');
    await tmux.wait('approved: http.request');
    await stage.reaches(id, 'completed');
    await tmux.wait('poster: completed');
  });

  it('does nothing of a paste that answers before it was asked', async () => {
    await tmux.line('hooks');
    await tmux.wait('1. issues');
    await tmux.shows('The answer came before the question', 'test 1\ny\n');
  });

  it('gives the terminal to a command that asks, and takes it back', async () => {
    await tmux.line('add');
    await tmux.wait('Sender (number or name)');
    await tmux.shows('Back at the desk.', 'C-c');
    await tmux.line('where');
    await tmux.wait('You are owner, admin, at');
  });

  it('logs in again, and shows nothing of the password', async () => {
    await createClient({ url: stage.url, token: stage.token }).auth.logout();
    await tmux.wait('Type login');
    await tmux.line('login');
    await tmux.wait('Password for owner:');
    await tmux.line(PASSWORD);
    await tmux.wait('Logged in again.');
    expect(await tmux.frame()).to.not.contain(PASSWORD);
    await tmux.line('hooks');
    await tmux.wait('1. issues');
  });

  it('ends by ^C', async () => {
    await tmux.shows('ended 130', 'C-c');
  });
});
