import { contracts, type ModelFit } from '../../src/client/index.js';
import { type Context, command, on } from '../command.js';
import { Exit, failed } from '../exit.js';
import { requestFields, requestFrom } from '../fields.js';
import { sizeText } from '../operations/bar.js';
import { oneLine, safe, wrapText } from '../text.js';
import { fitColumns } from './fit.js';
import { beginInstall, installedAs } from './install.js';
import { speedText } from './machine.js';

const { hardware, install, list } = await contracts.capabilities();
const models = await contracts.models();

type AskedUse = ModelFit['useCases'][number];

/** Installs the model, registers it, makes it the default and lets it answer. */
export const installAndAsk = async (
  context: Context,
  { model, name }: ModelFit,
  { useCase, isAgreed }: { useCase: AskedUse; isAgreed: boolean },
): Promise<void> => {
  const client = await context.client();
  const agreed = isAgreed ? { acceptLicence: 'true' } : {};
  const begun = await beginInstall(context, { id: model, useCase, ...agreed });
  const registered = await installedAs(context, begun);
  if (registered === null) {
    context.out.note(`Installed: ${safe(name)}`);
    return;
  }
  context.out.note(`Registered as ${safe(registered)}.`);
  if (useCase === 'embedding') return;
  await client.models.default({ name: registered });
  const reply = await client.models.check({ name: registered });
  if (!reply.ok) throw failed(`It does not answer: ${oneLine(reply.error ?? '')}`);
  context.out.line(
    `${safe(registered)} answers by default. It said: "${oneLine(reply.reply ?? '')}"`,
  );
};

export const recommendCommand = command({
  name: 'recommend',
  calls: [hardware, list, install, models.default, models.check],
  summary: 'Find the model that fits this machine best, and install it',
  examples: ['', '--use-case embedding', '--install --yes', '--use-case code --json'],
  fields: () => requestFields(hardware.query),
  flags: {
    install: on('Install it, make it the default, and let it answer'),
    acceptLicence: on('You have read its licence and agree'),
  },
  notes: ['Exit 1 where no model fits.'],
  run: async (context, { fields, flags }) => {
    const query = await requestFrom(hardware.query, { fields }, context.at);
    const useCase = query.useCase ?? 'chat';
    const client = await context.client();
    const reply = await client.capabilities.hardware({ query: { ...query, useCase } });
    const first = reply.fit.find(({ recommended }) => recommended);
    if (!first) {
      context.exitCode = Exit.failed;
      context.out.note(`No model for ${useCase} fits this machine: adjutant hardware --all`);
      return;
    }
    if (context.out.format === 'table') describe(context, first);
    else context.out.item(first, fitColumns);
    if (first.installed) return context.out.note('It is installed already.');
    const isWanted = flags.install ?? (await isAsked(context, first));
    if (isWanted) {
      await installAndAsk(context, first, { useCase, isAgreed: flags.acceptLicence ?? false });
    } else if (context.out.format === 'table') {
      context.out.note('Install it: adjutant models recommend --install');
    }
  },
});

const describe = ({ out }: Context, fit: ModelFit): void => {
  const { name, quantization, weightsBytes, licence, why, model } = fit;
  const speed = speedText(fit);
  const facts = [
    `${sizeText(weightsBytes)} to fetch`,
    ...(speed === '' ? [] : [speed]),
    oneLine(licence ?? 'licence not known'),
  ];
  const head = `${oneLine(name)} ${oneLine(quantization ?? '')}  ${safe(model)}`;
  for (const text of [head, facts.join(', '), oneLine(why)]) {
    for (const line of wrapText(text, out.width)) out.line(line);
  }
};

const isAsked = ({ ask, out }: Context, { name }: ModelFit): Promise<boolean> => {
  if (!ask.isPossible || out.format !== 'table') return Promise.resolve(false);
  return ask.agree({ ask: `Install ${safe(name)} now?`, instead: '--install' }, false);
};
