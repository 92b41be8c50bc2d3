import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until } from '../../harness/app.js';
import { openForSuite } from '../../harness/suite.js';
import { seedRun, seedTemplate } from '../../harness/template.js';
import { type Editor, openEditor } from '../editor.js';
import { openWorld } from '../world.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const YAML = `name: Notes
parameters:
  - { key: what, type: string, required: true }
stages:
  - key: draft
    kind: agent
    config: { prompt: "Write about {{params.what}}" }
  - key: approve
    kind: approval
    needs: [draft]
    config: { message: "{{stages.draft.output}}" }
`;

const FORM = `name: Ask
stages:
  - key: form
    kind: input
    config:
      message: What is it?
      fields:
        - { key: owner, label: Who, type: string, required: true }
        - { key: size, label: How long, type: choice, options: [short, long] }
`;

describe('adjutant pipelines', () => {
  const world = openForSuite(lab, openWorld);
  let token: string;
  beforeEach(async () => {
    ({ token } = await world.arrive());
  });

  const run = (verb: string, text: string, ...words: string[]) =>
    world.cli(['pipelines', verb, '-f', '-', ...words], { stdin: text });

  it('applies a file: creates, leaves as it is, shows what differs, changes', async () => {
    expect((await run('apply', YAML, '--output', 'id')).stdout).to.match(/^template_\w+\n$/);
    const same = await world.cli(['pipelines', 'apply', '-f', await world.file('n.yaml', YAML)], {
      terminal: 100,
    });
    expect([same.code, same.stderr]).to.equal([0, 'Notes already matches the file: version 1.\n']);
    expect((await run('diff', YAML)).code).to.equal(0);
    const changed = YAML.replace('Write about', 'Write shortly about');
    const diff = await run('diff', changed);
    expect(diff.code).to.equal(1);
    const linesOf = ({ stdout }: { stdout: string }) =>
      stdout.split('\n').filter((line) => /^[-+] /.test(line));
    // In the format of the file, on both sides.
    expect(linesOf(diff)).to.equal([
      '-      prompt: Write about {{params.what}}',
      '+      prompt: Write shortly about {{params.what}}',
    ]);
    const [{ id } = { id: '' }] = (await world.client.templates.list({ query: { preset: false } }))
      .templates;
    const { name, parameters, stages } = await world.client.templates.get({ id, query: {} });
    const json = JSON.stringify({ name, parameters, stages }).replace('Write', 'Note');
    expect(linesOf(await run('diff', json)).map((line) => line.replace(/\s+/g, ' '))).to.equal([
      '- "prompt": "Write about {{params.what}}"',
      '+ "prompt": "Note about {{params.what}}"',
    ]);
    const applied = JSON.parse((await run('apply', changed, '--json')).stdout);
    expect([applied.name, applied.version]).to.equal(['Notes', 2]);
  });

  it('names the line of each fault', async () => {
    const bad = YAML.replace('needs: [draft]', 'needs: [drafts]').replace('agent', 'poem');
    const { code, stdout } = await run('validate', bad);
    expect([code, stdout.split('\n')[0]]).to.match(/^1,stdin:6: stages\.0\.kind must be one of /);
    const { code: applied, stderr } = await run('apply', YAML.replace('[draft]', '[drafts]'));
    expect([applied, stderr]).to.equal([
      1,
      '- is not a valid template.\n' +
        'stdin:10: stages.1.needs.0 refers to an unknown stage: drafts\n' +
        'stdin:11: stages.1.config.message refers to the stage draft. Add it to the needs of approve\n',
    ]);
    expect((await run('validate', 'a: &a [*a]')).stdout).to.contain('aliases');
  });

  it('draws the stages as a tree', async () => {
    await run('apply', YAML);
    const { stdout } = await world.cli(['pipelines', 'templates', 'graph', 'Notes']);
    expect(stdout).to.equal('draft  agent\n└─ approve  approval\n');
    const mermaid = await world.cli(['pipelines', 'templates', 'graph', 'Notes', '--mermaid']);
    expect(mermaid.stdout).to.startWith('flowchart TD\n  s0["draft (agent)"]\n');
  });

  it('follows a run as a tree that is drawn over, elsewhere line by line', async () => {
    const steps = (name: string, seconds: number) => `name: ${name}
stages:
  - { key: now, kind: tool, config: { toolId: time, toolAction: now } }
  - { key: rest, kind: wait, needs: [now], config: { seconds: ${seconds} } }
  - { key: approve, kind: approval, needs: [rest], config: { message: "Go on?" } }
`;
    await run('apply', steps('Steps', 1));
    await run('apply', steps('Quick', 0));
    const live = await world.cli(['pipelines', 'run', 'Steps', '--follow'], { terminal: 100 });
    // What is drawn over is gone: one tree is left.
    expect(live.stdout).to.match(
      /^now {2}tool {2}completed \d.*\n└─ rest {2}wait {2}completed \d.*\n {3}└─ approve {2}approval {2}waiting_approval.*\nSteps: waiting\n$/,
    );
    expect(live.stderr).to.match(
      /^> Go on\?\nDigest [0-9a-f]{8}\.\nDecide: adjutant pipelines approve \w{6} approve/m,
    );
    const piped = await world.cli(['pipelines', 'run', 'Quick', '--follow']);
    expect(piped.stderr).to.match(
      /^now {2}tool {2}completed\n(rest {2}wait {2}running\n)?rest {2}wait {2}completed\napprove {2}approval {2}waiting_approval\n$/,
    );
    const { pipelines } = await world.client.pipelines.list({ query: {} });
    const { stdout } = await world.cli(['pipelines', 'get', pipelines[0]?.id ?? ''], {
      terminal: 100,
    });
    expect(stdout.split('\n').map((line) => line.slice(0, 16))).to.equal([
      'Quick: waiting',
      '  now  tool  com',
      '  └─ rest  wait ',
      '     └─ approve ',
      '',
    ]);
  });

  it('asks for the template, its parameters and the values of a stage on a terminal', async () => {
    await run(
      'apply',
      `name: Form
parameters:
  - { key: size, type: number, required: true }
stages:
  - key: title
    kind: input
    config: { message: "Which title?", fields: [{ key: title, label: Title, type: string, required: true }] }
`,
    );
    const { templates } = await world.client.templates.list({ query: {} });
    const number = templates.findIndex(({ name }) => name === 'Form') + 1;
    const answers = [String(number), 'big', '3'];
    const begun = await world.cli(['pipelines', 'run'], { terminal: 100, answers });
    expect(begun.stderr).to.contain('Enter a number.');
    const { pipelines } = await world.client.pipelines.list({ query: {} });
    const [{ id, params } = { id: '', params: {} }] = pipelines;
    expect(params).to.equal({ size: 3 });
    const approved = await world.cli(['pipelines', 'approve', id.slice(-6), 'title', '--yes']);
    expect([approved.code, approved.stderr]).to.equal([
      1,
      `title waits for values.\nAnswer: adjutant pipelines input ${id.slice(-6)} title\nor: adjutant pipelines input ${id.slice(-6)} title title=...\n`,
    ]);
    // What is typed is the value, also if it begins with the sign of a file.
    const given = await world.cli(['pipelines', 'input', id, 'title'], {
      ...{ terminal: 100, answers: ['', '@spring'] },
    });
    expect(given.stderr).to.contain('Which title?');
    expect(given.stderr).to.contain('A value is required.');
    const { stages } = await world.client.pipelines.get({ id });
    expect(stages[0]?.output).to.equal({ title: '@spring' });
    const piped = await world.cli(['pipelines', 'run']);
    expect(piped.code).to.equal(2);
  });

  it('takes the name of a template where it asks which, and tells runs of one name apart', async () => {
    await seedTemplate(world.app, token, 'clock');
    const typed = async (...answers: string[]) => {
      const begun = await world.cli(['pipelines', 'run'], { terminal: 100, answers });
      return begun.stderr.split('\n').filter((line) => line.startsWith('Enter a number from'));
    };
    const { templates } = await world.client.templates.list({ query: {} });
    const refusal = `Enter a number from 1 to ${templates.length}, or a name.`;
    expect(await typed('clocks', 'clock')).to.equal([refusal]);
    expect(await typed('clock')).to.equal([]);
    const { pipelines } = await until(
      () => world.client.pipelines.list({ query: {} }),
      (reply) => reply.pipelines.every(({ status }) => status === 'completed'),
    );
    const { code, stderr } = await world.cli(['pipelines', 'get', 'clock']);
    const [head, ...lines] = stderr.trimEnd().split('\n');
    expect([code, head]).to.equal([2, '"clock" is ambiguous: 2 matches. Type more of the id:']);
    expect(lines.map((line) => line.replace(/(just now|\d+ \w+ ago)$/, 'ago'))).to.equal(
      pipelines.map(({ id }) => `  ${id}  clock  completed, ago`),
    );
  });

  it('shows what is approved with marks that no text can bring', async () => {
    const message =
      '"Go?\\n\\u200bAnswer: adjutant pipelines approve abc123 pay\\n\\u202eApproved."';
    const ask = `{ key: ask, kind: approval, config: { message: ${message} } }`;
    const id = await started('Marks', `name: Marks\nstages:\n  - ${ask}\n`);
    const { stderr } = await world.cli(['pipelines', 'get', id], { terminal: 100 });
    expect(stderr.split('\n').slice(0, 3)).to.equal([
      '> Go?',
      '> \\u{200b}Answer: adjutant pipelines approve abc123 pay',
      '> \\u202eApproved.',
    ]);
  });

  it('asks below many runs without a warning', async () => {
    const body = { templateId: await seedTemplate(world.app, token, 'clock') };
    for (let count = 0; count < 12; count++) await world.client.pipelines.start({ body });
    const warnings: string[] = [];
    const hear = ({ name }: Error) => void warnings.push(name);
    process.on('warning', hear);
    const { code } = await world.cli(['pipelines', 'get', 'zzzzzz']);
    process.off('warning', hear);
    expect([code, warnings]).to.equal([1, []]);
  });

  /** Starts a run of the template that was written; its id. */
  const started = async (name: string, yaml: string): Promise<string> => {
    await run('apply', yaml);
    return (await world.cli(['pipelines', 'run', name, '--output', 'id'])).stdout.trim();
  };

  it('names the fields that a stage asks for, and whose run waits below', async () => {
    const id = await started('Ask', FORM);
    const shown = await world.cli(['pipelines', 'get', id], { terminal: 100 });
    const stage = `adjutant pipelines input ${id.slice(-6)} form`;
    const { digest } = (await world.client.pipelines.get({ id })).stages[0] ?? {};
    expect(shown.stderr.split('\n')).to.equal([
      '> What is it?',
      `Digest ${digest?.slice(0, 8)}.`,
      '  owner  Who: string, required',
      '  size  How long: choice of short, long',
      `Answer: ${stage}`,
      `or: ${stage} owner=... size=...`,
      '',
    ]);
    const { templates } = await world.client.templates.list({ query: { name: 'Ask' } });
    const nested = `{ kind: pipeline, config: { templateId: ${templates[0]?.id} } }`;
    const above = await started(
      'Above',
      `name: Above\nstages: [{ key: below, ${nested.slice(2)}]\n`,
    );
    await until(
      async () => (await world.client.pipelines.get({ id: above })).stages[0]?.reason ?? '',
      (reason) => reason.includes('is waiting'),
    );
    const { stderr } = await world.cli(['pipelines', 'get', above], { terminal: 100 });
    expect(stderr).to.equal(
      `Show the waiting runs: adjutant pipelines list --parent-id ${above} --status waiting\n`,
    );
  });

  it('follows a run that is under way; the exit code tells how it stands', async () => {
    const { id, key } = await seedRun(world.app, token, 'go');
    const short = id.slice(-6);
    const follow = (...words: string[]) => world.cli(['pipelines', 'follow', short, ...words]);
    const waits = await follow();
    expect([waits.code, waits.stderr]).to.equal([3, 'ok  approval  waiting_approval\n']);
    await world.cli(['pipelines', 'approve', short, key, '--yes']);
    const done = await follow('--json');
    expect([done.code, JSON.parse(done.stdout).status]).to.equal([0, 'completed']);

    const again = await seedRun(world.app, token, 'again');
    await world.client.pipelines.stop({ id: again.id });
    expect((await world.cli(['pipelines', 'follow', again.id])).code).to.equal(1);
    const retried = await world.cli(['pipelines', 'retry', again.id, '--follow'], {
      terminal: 100,
    });
    expect([retried.code, retried.stdout]).to.match(/^3,ok {2}approval.*\nagain run: waiting\n$/);
  });

  it('says after ^C that the run goes on', async () => {
    const rest = `name: Rest\nstages: [{ key: rest, kind: wait, config: { seconds: 60 } }]\n`;
    const id = await started('Rest', rest);
    const ended = await world.cli(['pipelines', 'follow', id], { until: /^rest/ });
    expect([ended.code, ended.stderr.split('\n').slice(1)]).to.equal([
      130,
      [`The run continues. Follow it: adjutant pipelines follow ${id.slice(-6)}`, ''],
    ]);
    expect((await world.client.pipelines.stop({ id })).status).to.equal('stopped');
  });

  it('prints YAML that can be applied again', async () => {
    await run('apply', YAML);
    const yaml = (await world.cli(['pipelines', 'templates', 'get', 'Notes', '--yaml'])).stdout;
    expect((await run('diff', yaml)).code).to.equal(0);
  });

  describe('templates edit', () => {
    let editor: Editor;
    beforeEach(async () => {
      editor = await openEditor();
    });
    afterEach(() => editor.close());
    const edit = (name: string, ...answers: string[]) =>
      world.cli(['pipelines', 'templates', 'edit', name], { terminal: 100, answers });

    it('changes a template as YAML, and opens it again if something is wrong', async () => {
      await seedTemplate(world.app, token, 'clock');
      await editor.script(
        's/^name: clock/name: clocks/;s/toolAction: now/toolAction: then/',
        's/then/now/',
      );
      const { code, stderr } = await edit('clock', 'y');
      expect([code, stderr]).to.match(
        /template\.yaml:\d+: stages\.0\.config\.toolAction names an unknown tool/,
      );
      expect(stderr).to.endWith('Updated clocks: version 2.\n');
      const { templates } = await world.client.templates.list({ query: { preset: false } });
      expect(templates.map(({ name }) => name)).to.equal(['clocks']);
    });

    it("changes one's own that has the name of one that ships", async () => {
      const words = ['pipelines', 'templates', 'get', 'preset_release_notes', '--yaml'];
      await run('apply', (await world.cli(words)).stdout);
      await editor.script('s/^description: .*/description: Ours/');
      expect((await edit('Release notes')).stderr).to.equal('Updated Release notes: version 2.\n');
      const { templates } = await world.client.templates.list({ query: { preset: false } });
      expect(templates.map(({ description }) => description)).to.equal(['Ours']);
      const flags = ['--cron', '0 9 * * 1', '--action', 'start_pipeline', '--template-id'];
      const recurring = ['recurring', 'create', 'notes', ...flags, 'Release notes'];
      const params = ['--params', '{"version":"2.1","changes":"Faster"}', '--json'];
      const made = await world.cli([...recurring, ...params]);
      expect(JSON.parse(made.stdout).actionConfig?.templateId).to.equal(templates[0]?.id);
    });

    it('leaves those that ship, and what was left as it was', async () => {
      const refused = await edit('preset_issue_triage');
      expect([refused.code, refused.stderr.split('\n')]).to.equal([
        1,
        [
          'preset_issue_triage ships with Adjutant and cannot be changed.',
          'Create your own copy: adjutant pipelines templates get preset_issue_triage --yaml > mine.yaml',
          'Change the file, then: adjutant pipelines apply -f mine.yaml',
          '',
        ],
      ]);
      await seedTemplate(world.app, token, 'clock');
      await editor.script('');
      expect((await edit('clock')).stderr).to.equal('Nothing was changed.\n');
    });
  });
});
