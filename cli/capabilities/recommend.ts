import { contracts, type ModelFit } from '../../src/client/index.js';
import { type Context, command, switchFlag } from '../command.js';
import { Exit, failed } from '../exit.js';
import { requestFields, requestFrom } from '../fields.js';
import { oneLine, safe, wrapText } from '../text.js';
import { fitColumns } from './fit.js';
import { downloadSizeText } from './install.js';
import { speedText } from './machine.js';
import { followInstall, modelUsers, registeredModel, startInstall } from './start.js';

const { hardware, install, list } = await contracts.capabilities();
const models = await contracts.models();

type ModelUseCase = ModelFit['useCases'][number];

const isAnswering = (useCase: ModelUseCase): boolean =>
  useCase !== 'embedding' && useCase !== 'speech';

/** Installs the model, registers it, makes it the default and tests it. */
export const installAndAsk = async (
  context: Context,
  { model, name, contextWindow }: ModelFit,
  { useCase, isAgreed }: { useCase: ModelUseCase; isAgreed: boolean },
): Promise<void> => {
  const agreed = isAgreed ? { acceptLicence: 'true' } : {};
  const wanted = { id: model, useCase, contextWindow };
  const begun = await startInstall(context, { ...wanted, ...agreed });
  if (begun.is === 'there') {
    context.out.note(begun.sentence);
    const [there] = begun.capability === null ? [] : modelUsers(begun.capability);
    if (there !== undefined && isAnswering(useCase)) await answerByDefault(context, there);
    return;
  }
  const registered = registeredModel(await followInstall(context, begun.operation));
  if (registered === null) {
    context.out.note(`Installed: ${safe(name)}`);
    return;
  }
  context.out.note(`Registered as ${safe(registered)}.`);
  if (isAnswering(useCase)) await answerByDefault(context, registered);
};

const answerByDefault = async (context: Context, name: string): Promise<void> => {
  const { models: registry } = await context.client();
  await registry.default({ name });
  const reply = await registry.check({ name });
  if (!reply.ok) {
    throw failed(
      `${safe(name)} is the default model, but does not reply: ${oneLine(reply.error ?? '')}`,
      `Test it again: adjutant models test ${safe(name)}`,
    );
  }
  context.out.line(
    `${safe(name)} is the default model. Test reply: "${oneLine(reply.reply ?? '')}"`,
  );
};

const askInstalled = async (
  context: Context,
  slug: string,
  useCase: ModelUseCase,
): Promise<void> => {
  const { capabilities } = await (await context.client()).capabilities.list({});
  const found = capabilities.find(({ id }) => id === slug);
  const [name] = found ? modelUsers(found) : [];
  if (name === undefined) {
    context.out.note(
      'The download is not registered as a model. Help: adjutant help models create',
    );
    return;
  }
  context.out.note(`The model is registered as ${safe(name)}.`);
  if (isAnswering(useCase)) await answerByDefault(context, name);
};

export const recommendCommand = command({
  name: 'recommend',
  calls: [hardware, list, install, models.default, models.check],
  summary: 'Find and optionally install the best model for this machine',
  examples: ['', '--use-case embedding', '--install --yes', '--use-case code --json'],
  fields: () => requestFields(hardware.query),
  flags: {
    install: switchFlag(
      'Install the model, make it the default, and test it. Models for embedding and speech are only installed',
    ),
    acceptLicence: switchFlag('Accept the licence of the model'),
  },
  notes: ['Exit code 1: no model fits.'],
  run: async (context, { fields, flags }) => {
    const query = await requestFrom(hardware.query, { fields }, context.at);
    const useCase = query.useCase ?? 'chat';
    const client = await context.client();
    const reply = await client.capabilities.hardware({ query: { ...query, useCase } });
    const first = reply.fit.find(({ recommended }) => recommended);
    if (!first) {
      context.exitCode = Exit.failed;
      const [lack] = reply.fit.flatMap(({ reason }) => reason ?? []);
      const why =
        lack === undefined ? 'fits this machine' : `can be installed here: ${oneLine(lack)}`;
      context.out.note(`No model for ${useCase} ${why}: adjutant hardware --all`);
      return;
    }
    if (context.out.format === 'table')
      describe(context, first, await fetchDownloadSize(context, first));
    else context.out.item(first, fitColumns);
    const { contextWindow: requestedWindow = 0 } = query;
    if (requestedWindow > first.contextWindow) {
      const most = first.contextWindow;
      context.out.note(
        `The maximum context window of the model is ${most} tokens. The context is limited to this maximum.`,
      );
    }
    if (first.installed) {
      context.out.note('The model is already installed.');
      // Speech models are not registered.
      if (flags.install && useCase !== 'speech') await askInstalled(context, first.model, useCase);
      return;
    }
    const isWanted = flags.install ?? (await isAsked(context, first));
    if (isWanted) {
      await installAndAsk(context, first, { useCase, isAgreed: flags.acceptLicence ?? false });
    } else if (context.out.format === 'table') {
      context.out.note(`Install it: ${buildInstallCommand(fields)}`);
    }
  },
});

const buildInstallCommand = (fields: Record<string, unknown>): string => {
  const words = requestFields(hardware.query).flatMap(({ path, name }) =>
    fields[path] === undefined ? [] : [`--${name} ${safe(String(fields[path]))}`],
  );
  return ['adjutant models recommend --install', ...words].join(' ');
};

const fetchDownloadSize = async (
  context: Context,
  { installed, model }: ModelFit,
): Promise<string | null> => {
  if (installed) return null;
  const list = await (await context.client()).capabilities.list({});
  const found = list.capabilities.find(({ id }) => id === model);
  return found ? downloadSizeText(list, found) : null;
};

const describe = ({ out }: Context, fit: ModelFit, load: string | null): void => {
  const { name, quantization, licence, why, model } = fit;
  const speed = speedText(fit);
  const facts = [
    ...(load === null ? [] : [load]),
    ...(speed === '' ? [] : [speed]),
    oneLine(licence ?? 'licence unknown'),
  ];
  // The name of an installed model may contain the quantization.
  const isSaid = quantization === null || name.toLowerCase().includes(quantization.toLowerCase());
  const head = `${oneLine(isSaid ? name : `${name} ${quantization}`)}  ${safe(model)}`;
  for (const text of [head, facts.join(', '), oneLine(why)]) {
    for (const line of wrapText(text, out.width)) out.line(line);
  }
};

const isAsked = ({ ask, out }: Context, { name }: ModelFit): Promise<boolean> => {
  if (!ask.isPossible || out.format !== 'table') return Promise.resolve(false);
  return ask.agree({ ask: `Install ${safe(name)} now?`, instead: '--install' }, false);
};
