import { fileURLToPath } from 'node:url';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createClient } from '../../src/client/index.js';
import { dropSession, saveSession } from '../../src/client/session.js';
import { call, type Stage, startStage } from '../agents/stage.js';
import { openConfig } from '../cli/config.js';
import { type Editor, openEditor } from '../cli/editor.js';
import { PASSWORD, untilMatches } from '../harness/app.js';
import { says } from '../harness/openai.js';
import { openTmux, type Tmux, tmuxMissing } from '../harness/tmux.js';
import { readingTime } from '../harness/turns.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const BIN = fileURLToPath(new URL('../../../bin/adjutant.js', import.meta.url));
const missing = tmuxMissing();
const title = missing === null ? 'desk at work' : `desk at work (skipped: ${missing})`;
/** Keys of a question have no effect for 700 ms. */
const DEAD_MS = 900;

describe(title, { skip: missing !== null }, () => {
  let config: Awaited<ReturnType<typeof openConfig>>;
  let stage: Stage;
  let tmux: Tmux;
  let editor: Editor;

  before(async () => {
    config = await openConfig();
    stage = await startStage();
    const login = { token: stage.token, username: 'owner', expiresAt: '2126-01-01T00:00:00.000Z' };
    saveSession(stage.url, login);
    editor = await openEditor();
    await editor.script('s/$/ This is from the editor./');
    const { EDITOR = '' } = process.env;
    const env = {
      XDG_CONFIG_HOME: config.folder,
      ADJUTANT_URL: stage.url,
      ADJUTANT_BELL: '1',
      EDITOR,
    };
    tmux = await openTmux({ width: 80, height: 24, env });
    await tmux.line(`node ${BIN} tui --theme dark; echo ended $?`);
    await tmux.wait('live');
  });

  after(async () => {
    await tmux.close();
    await editor.close();
    await stage.stop();
    await config.close();
  });

  it('answers an approval, and follows the agent to its end', async () => {
    const request = { method: 'POST', url: `${stage.model.baseUrl}/nowhere`, body: 'hello' };
    stage.model.script(
      says({ text: 'I will ask first.', toolCalls: [call('http_request', request)] }),
      says({ text: 'Done as you said.' }),
    );
    // Calls that waited before the desk was opened would not ring.
    await tmux.shows('No pending approvals', '4');
    const { id } = await stage.spawn({ prompt: 'Post hello', name: 'poster' });
    await stage.reaches(id, 'waiting_approval');
    await tmux.wait('1 APPROVAL');
    await untilMatches(() => tmux.tell('#{window_bell_flag}'), '1');
    await tmux.shows('> poster', '3');
    await tmux.shows('I will ask first.', 'Enter');
    await tmux.wait('decide there');
    await tmux.shows('The whole call is shown.', 'Enter');
    await tmux.shows('once, exactly as shown?', 'A');
    await readingTime(DEAD_MS);
    await tmux.keys('y');
    await stage.reaches(id, 'completed');
    await tmux.shows('Done as you said.', '3');
    await tmux.wait('completed');
    await tmux.shows('no gap', ']');
    await tmux.shows('0 sub-agents', ']');
    await tmux.keys('[');
    expect(await tmux.wait('completed')).to.not.contain('were dropped');
  });

  it('sends a message', async () => {
    stage.model.script(says({ text: 'You are welcome.' }));
    await tmux.shows('> Thx This is from the editor.', '[', 'i', 'T', 'h', 'x', 'C-x');
    await tmux.keys('Enter');
    // It covers the status line until the next key.
    await tmux.wait('Sent to poster');
    await tmux.wait('You are welcome.');
  });

  it('shows the log as it grows, and how the daemon is reached', async () => {
    await tmux.shows('following   level info', '0');
    await tmux.shows('level debug and above', '.');
    await tmux.shows('Only this machine can reach the daemon', '8');
    await tmux.shows('You are welcome.', '3');
  });

  it('browses what has no screen of its own', async () => {
    await tmux.shows('sessions: 1 row', ':', ...'browse', 'Space', ...'sess', 'Enter');
    await tmux.wait('messageCount');
    await tmux.shows('You are welcome.', 'Escape');
  });

  it('logs in again once the session has ended', async () => {
    await createClient({ url: stage.url, token: stage.token }).auth.logout();
    await tmux.wait('Your drafts are kept');
    await tmux.shows('Password for owner:', 'Enter');
    await tmux.keys(...[...PASSWORD].map((letter) => (letter === ' ' ? 'Space' : letter)));
    expect(await tmux.frame()).to.not.contain(PASSWORD);
    await tmux.shows('live', 'Enter');
    await tmux.wait('You are welcome.');
    await tmux.shows('ended 0', 'C-c');
  });

  it('opens with a login that has ended, and asks for the password', async () => {
    const login = { token: 'dead', username: 'owner', expiresAt: '2126-01-01T00:00:00.000Z' };
    saveSession(stage.url, login);
    await tmux.line(`clear; node ${BIN} tui --theme dark; echo ended $?`);
    await tmux.wait('Password for owner:');
    await tmux.keys(...[...PASSWORD].map((letter) => (letter === ' ' ? 'Space' : letter)), 'Enter');
    await tmux.wait('owner@');
    await tmux.wait('live');
    await tmux.shows('> poster', '3');
    await tmux.shows('ended 0', 'C-c');
  });

  it('opens without any login, and names quickstart', async () => {
    dropSession(stage.url);
    await tmux.line(`clear; node ${BIN} tui --theme dark; echo ended $?`);
    await tmux.wait('adjutant quickstart');
    await tmux.shows('ended 0', 'q');
  });
});
