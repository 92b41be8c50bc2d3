import { ApiError, Unreachable } from '../../src/client/errors.js';
import type { Client, ModelFit } from '../../src/client/index.js';
import { speedText } from '../capabilities/machine.js';
import { installAndAsk } from '../capabilities/recommend.js';
import type { Context } from '../command.js';
import { keyFrom } from '../commands/models.js';
import { CliFault } from '../exit.js';
import { sizeText } from '../operations/counts.js';
import { duration, oneLine, safe } from '../text.js';

type FirstModel = NonNullable<Parameters<Client['models']['create']>[0]>['body'];

/** A model that could be registered now, and how it is called in a list of choices. */
interface Offer {
  label: string;
  body: FirstModel;
}

/** Providers that sell by key; the first facts kept of one name its usual model. */
const SELLERS = ['anthropic', 'openai', 'google', 'openrouter'] as const;
/** The most models of one server that are offered. */
const MAX_OF_SERVER = 3;
const TEST_MS = 120_000;
/** Ours: the longest time to look at the machine, in milliseconds. */
const FIT_MS = 20_000;
const INSTEAD = 'adjutant models create';

/** Models of this machine: what its ollama has, and tools that are logged in. Failures offer nothing. */
export const modelOffers = async (client: Client): Promise<Offer[]> => {
  const [ollama, tools] = await Promise.all([
    client.providers.ollama({ query: {} }).then(
      ({ models }) => models.slice(0, MAX_OF_SERVER).map(({ modelId }) => ollamaOf(modelId)),
      () => [],
    ),
    client.clitools.status().then(
      (reply) => reply.tools.filter(({ available, loggedIn }) => available && loggedIn),
      () => [],
    ),
  ]);
  return [...ollama, ...tools.map(({ name }) => toolOf(name))];
};

const ollamaOf = (modelId: string): Offer => ({
  label: `ollama/${oneLine(modelId)}`,
  body: { name: `ollama/${modelId}`, provider: 'ollama', modelId },
});
const toolOf = (name: string): Offer => ({
  label: `the ${name} CLI`,
  body: { name, provider: 'cli', modelId: name },
});

/**
 * Has one of the offers chosen, or another by its key, makes it the default and tries it. Enter alone
 * takes the first offer; where there is none, the model that fits this machine, and else it leaves the
 * choice for later. With `--yes` the first offer is taken without a question, and nothing is installed.
 */
export const chooseFirst = async (context: Context, offers: Offer[]): Promise<void> => {
  const { ask, flags } = context;
  if (flags.yes) return takeFirst(context, offers[0]);
  const fitting = await fittingModel(context);
  const local = fitting ? [`install ${oneLine(fitting.name)} here: ${factsOf(fitting)}`] : [];
  const labels = [...offers.map(({ label }) => label), ...local];
  const choices = [...labels, 'one by its API key', 'later'];
  const initial = String(labels.length > 0 ? 1 : choices.length);
  const at = await ask.choose({ ask: '    Use', choices, initial, instead: INSTEAD });
  if (at === choices.length - 1) return leaveForLater(context);
  if (fitting && at === offers.length) return installFitting(context, fitting);
  return registerAndTry(context, offers[at]?.body ?? (await byKey(context)));
};

const takeFirst = async (context: Context, offer: Offer | undefined): Promise<void> =>
  offer ? registerAndTry(context, offer.body) : leaveForLater(context);

/** Says by what a model is had later. */
export const leaveForLater = ({ out }: Context): void => {
  out.note('    Have one fetched that fits this machine, or add one of Ollama or of a provider:');
  out.note('    adjutant models recommend --install');
  out.note('    adjutant models create qwen --provider ollama --model-id qwen3');
  out.note('    adjutant models create claude --provider anthropic --model-id claude-sonnet-4-5');
};

const registerAndTry = async (context: Context, body: FirstModel): Promise<void> => {
  const client = await context.client();
  const { name } = await client.models.create({ body });
  await client.models.default({ name });
  const { ok, latencyMs, error } = await client.with({ timeoutMs: TEST_MS }).models.check({ name });
  context.out.note(
    ok
      ? `    Tested in ${duration(latencyMs)}: it answered`
      : `    It does not answer: ${safe(error ?? '')}\n    Mend it: adjutant models update ${safe(name)}   then: adjutant models test ${safe(name)}`,
  );
};

/** `2.3 GiB, ~12 tok/s, Apache License 2.0` */
const factsOf = (fit: ModelFit): string => {
  const { weightsBytes, licence } = fit;
  const facts = [sizeText(weightsBytes), speedText(fit), oneLine(licence ?? 'licence not known')];
  return facts.filter((fact) => fact !== '').join(', ');
};

/** The model that fits this machine best; null if none does, or if that cannot be found out. */
const fittingModel = async (context: Context): Promise<ModelFit | null> => {
  try {
    const client = (await context.client()).with({ timeoutMs: FIT_MS });
    const { fit } = await client.capabilities.hardware({ query: { useCase: 'chat' } });
    return fit.find(({ recommended, installed }) => recommended && !installed) ?? null;
  } catch (error) {
    if (error instanceof ApiError || error instanceof Unreachable) return null;
    throw error;
  }
};

/** Installs it; where that fails, the other steps go on without it. */
const installFitting = async (context: Context, fitting: ModelFit): Promise<void> => {
  context.out.note(`    ${oneLine(fitting.why)}`);
  try {
    await installAndAsk(context, fitting, { useCase: 'chat', isAgreed: false });
  } catch (error) {
    if (context.signal.aborted || !(error instanceof CliFault)) throw error;
    context.out.note(`    ${error.message}\n    Again, later: adjutant models recommend --install`);
  }
};

const byKey = async (context: Context): Promise<FirstModel> => {
  const { ask } = context;
  const choices = [...SELLERS];
  const provider =
    choices[await ask.choose({ ask: '    Of', choices, instead: INSTEAD })] ?? 'openai';
  const { models } = await (await context.client()).providers.known({ provider });
  const modelId = await ask.text({
    ask: '    Model, as the provider calls it',
    initial: models[0]?.modelId,
    instead: INSTEAD,
    refuse: (given) => (given === '' ? 'A name, as in its documentation.' : undefined),
  });
  const apiKey = await keyFrom(context, undefined);
  return { name: `${provider}/${modelId}`, provider, modelId, apiKey };
};
