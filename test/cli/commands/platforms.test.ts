import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { fieldFlags, formatSettingFlag } from '../../../cli/channels/platform.js';
import { BOT_TOKEN, COMMAND_TOKEN, openMattermost } from '../../harness/mattermost.js';
import { openForSuite } from '../../harness/suite.js';
import { forgetPlatforms, openWorld } from '../world.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

describe('platforms', () => {
  const world = openForSuite(lab, openWorld);
  let server: Awaited<ReturnType<typeof openMattermost>>;

  beforeEach(async () => {
    server = await openMattermost();
  });
  afterEach(async () => {
    server.close();
    await forgetPlatforms(world);
  });

  const platforms = (words: string[], stdin?: string) =>
    world.cli(['platforms', ...words], stdin === undefined ? {} : { stdin });
  const state = async (kind: string) => {
    const { stdout } = await platforms(['list', '--fields', 'kind,sends,receives,missing']);
    return stdout.split('\n').find((line) => line.startsWith(kind));
  };

  it('has a flag for each field of each platform, and none that takes a secret', async () => {
    const { platforms: all } = await world.client.platforms.list();
    const names = all.flatMap(({ fields }) => fields.map(formatSettingFlag));
    const flags = Object.keys(fieldFlags).map((name) =>
      formatSettingFlag({ name, isSecret: false }),
    );
    expect([...new Set(names), '--base-url'].sort()).to.equal(flags.sort());
    const secrets = all.flatMap(({ fields }) => fields.filter(({ isSecret }) => isSecret));
    expect(secrets.map(formatSettingFlag).every((flag) => flag.endsWith('-file'))).to.be.true();
  });

  it('are set by flags, with secrets from files and stdin that are not shown again', async () => {
    expect(await state('mattermost')).to.equal('mattermost\tfalse\tfalse\tbotToken commandTokens');
    const file = await world.file('token', `${BOT_TOKEN}\n`);
    const words = ['set', 'mattermost', '--base-url', server.baseUrl, '--bot-token-file', file];
    const done = await platforms([...words, '--command-tokens-file', '-'], COMMAND_TOKEN);
    expect([done.code, done.stderr]).to.equal([0, '']);
    expect(await state('mattermost')).to.equal('mattermost\ttrue\ttrue\t');
    const shown = await platforms(['get', 'mattermost', '--json']);
    expect(shown.stdout).to.not.contain(BOT_TOKEN);
    expect(shown.stdout).to.not.contain(COMMAND_TOKEN);
  });

  it('say whether they work', async () => {
    const file = await world.file('token', BOT_TOKEN);
    await platforms(['set', 'mattermost', '--base-url', server.baseUrl, '--bot-token-file', file]);
    const works = await world.cli(['platforms', 'test', 'mattermost'], { terminal: 80 });
    expect([works.code, works.stderr]).to.equal([0, 'mattermost works: @adjutant\n']);
    await platforms(['set', 'mattermost', '--bot-token-file', '-'], 'another');
    const refused = await world.cli(['platforms', 'test', 'mattermost'], { terminal: 80 });
    expect([refused.code, refused.stderr]).to.equal([1, 'Mattermost returned 401: refused\n']);
  });

  it('forget a field, or all of them once that is confirmed', async () => {
    const file = await world.file('token', BOT_TOKEN);
    await platforms(['set', 'mattermost', '--bot-token-file', file]);
    await platforms(['set', 'mattermost', '--forget', 'botToken']);
    expect(await state('mattermost')).to.contain('botToken');
    await platforms(['set', 'mattermost', '--bot-token-file', file]);
    expect((await platforms(['rm', 'mattermost'])).stderr).to.contain('--yes');
    expect((await platforms(['rm', 'mattermost', '--yes'])).code).to.equal(0);
    expect(await state('mattermost')).to.contain('botToken');
  });

  it('name what is wrong', async () => {
    const none = await platforms(['set', 'matrix']);
    expect([none.code, none.stderr.split('\n')[0]]).to.equal([2, 'Unknown platform "matrix".']);
    expect((await platforms(['set', 'slack'])).code).to.equal(2);
    const twice = ['set', 'slack', '--bot-token-file', '-', '--signing-secret-file', '-'];
    expect((await platforms(twice, 'x')).stderr).to.startWith(
      'Only one secret can be read from stdin',
    );
    const other = await platforms(['set', 'slack', '--app-secret-file', '-'], 'x');
    expect([other.code, other.stderr.includes('appSecret')]).to.equal([2, true]);
  });
});
