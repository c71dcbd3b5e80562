/** The port to one vendor's agent program: its controls, what it declares, its plan, and the reading of its stream. */
import type { Declarations } from '../harness.ts';
import type { BudgetCounter } from '../protocol/budget.ts';
import type {
  AcpTurn,
  AuthMode,
  Cell,
  DeliveryPlan,
  Dimension,
  PlannedFile,
  Transport,
} from '../protocol/delivery.ts';
import type { Intent } from '../protocol/intent.ts';
import type { Observed } from './observed.ts';
import type { DeliveryRequest } from './request.ts';

/** How a harness honours an intent, as far as is known without asking it. */
export interface Control {
  /** The flag, key or file, as a person would look it up: `--system-prompt-file`. */
  readonly control: string;
  readonly transport: Transport;
  /** Where the text lands, in words. */
  readonly lands: string;
  /** True if a harness that does not know the control says nothing: then only a measurement lets it be used. */
  readonly silent?: true;
}

/** That there is no such control, and why. */
export interface NoControl {
  readonly none: string;
}

/** A row of the control table. Every adapter answers every intent. */
export type Controls = { readonly [I in Intent]: Control | NoControl };

/** Dimension → the native way in which it is delivered. What is not named is refused. */
export type DimensionControls = {
  readonly [D in Dimension]?: { readonly control: string; readonly transport: Transport };
};

/** A request that passed the seam: only `planDelivery` makes one, so no adapter is reached around it. */
export interface Resolved {
  readonly request: DeliveryRequest;
  readonly control: Control;
  /** Null where the caller goes on without a measurement. */
  readonly cell: Cell | null;
}

/**
 * What an adapter makes of a resolved request: the parts of a plan that are its own. `planDelivery` adds the rest
 * (names, keys of the caller, cell, receipts of the controls) and holds the limits of every transport.
 */
export type AdapterPlan = Partial<
  Pick<
    DeliveryPlan,
    | 'program'
    | 'argv'
    | 'env'
    | 'inherit'
    | 'files'
    | 'seeds'
    | 'stdin'
    | 'acp'
    | 'ambient'
    | 'residue'
    | 'notices'
  >
> & {
  /** How the task travels. */
  readonly task: { readonly control: string; readonly transport: Transport };
};

/** What is true of every program that the driver starts and reads: it can be watched and ended, not held to anything. */
export const drivenProgram: Declarations = {
  budget: 'observed',
  approval: 'none',
  effects: 'observed',
  resume: 'observed',
  cancel: 'observed',
};

/** What a driver does with a session that is continued. */
export type ResumeRule =
  /** The harness forgets the text: it is sent again, and stands once. */
  | 'send-again'
  /** The harness keeps the text: it is not sent again, and stands once. */
  | 'kept'
  /** It cannot continue a session; asking for it is refused. */
  | 'none';

/**
 * One harness. All values are constant and `plan` is pure: same request, same plan, nothing read, nothing touched.
 * Adding a harness is one folder of these parts, its measured cells, and one line in the catalog.
 */
export interface Adapter {
  readonly name: string;
  /** One sentence for a list. */
  readonly summary: string;
  /** The command that is looked up; null where nothing is started, or where the request names it. */
  readonly program: string | null;
  /** What makes the command print its version; empty where it has none. */
  readonly versionArgv: readonly string[];
  /** Measured like the controls. */
  readonly declares: Declarations;
  readonly controls: Controls;
  readonly dimensions: DimensionControls;
  /**
   * What it calls the model `provider/name` of a provider: by its name alone, or by all of it. What a provider that is
   * not listed calls its models it is not known to reach.
   */
  readonly models: { readonly [provider: string]: 'name' | 'provider/name' };
  /** The family that a model's name belongs to, as far as the vendor's prompt depends on it. */
  family(model: string | null): string;
  /** Variables that hold a key of the caller: they tell how the harness will log in, and the child inherits them. */
  readonly keyVariables: readonly string[];
  /** The base URL of its vendor: where its requests go if nobody says otherwise. Left out where it has several. */
  readonly vendorUrl?: string;
  /** The same with a login of its own, where that is another. */
  readonly loginUrl?: string;
  /** False where a request's `baseUrl` does not reach it. */
  readonly redirects?: false;
  /** Names of variables that steer the harness itself; a request cannot set one. */
  readonly owns: RegExp;
  readonly resume: ResumeRule;
  /** False for a harness of our own, whose bytes our own tests hold. */
  readonly needsCell?: false;
  /** Measured cells that ship with the package. */
  readonly cells: readonly Cell[];
  /**
   * Files of the home that make a login up, as the seeds of a plan would stand there. No server of a vendor takes it, so it
   * is for a measurement alone; left out where a program that is logged in cannot be led to this machine.
   */
  readonly loginForVerify?: () => readonly PlannedFile[];
  /** Throws a `deliver.*` refusal for what it cannot honour after all. */
  plan(resolved: Resolved): AdapterPlan;
  /** The counters of a budget that its stream tells while it works. */
  readonly reports?: readonly BudgetCounter[];
  /** Begins to read the stream of one run. Undefined where the program does not print lines. */
  readonly openStream?: () => StreamReader;
  /** Talks with the program instead, where both sides speak. Rejects where the other side breaks off. */
  readonly converse?: (turn: AcpTurn, conversation: Conversation) => Promise<void>;
}

/** The two streams of a program that is talked with, and who is told what is seen. */
export interface Conversation {
  /** Its standard input. */
  readonly input: WritableStream<Uint8Array>;
  /** Its standard output. */
  readonly output: ReadableStream<Uint8Array>;
  tell(observed: Observed): void;
}

/** Reads what a program prints. Owns nothing; an unknown line or event is skipped, never thrown at. */
export interface StreamReader {
  /** One line of stdout without its end. */
  line(text: string): readonly Observed[];
  /** What was held back; called once after the last line. */
  end(): readonly Observed[];
}

/** How the harness will log in, told by whether the caller's environment holds a key for it. */
export function authModeOf(adapter: Adapter, env: Readonly<Record<string, string | undefined>>): AuthMode {
  const given = adapter.keyVariables.some((name) => env[name] !== undefined && env[name] !== '');
  return given || adapter.keyVariables.length === 0 ? 'api-key' : 'login';
}

/** Where its requests go if nobody says otherwise; undefined where it asks models of several vendors. */
export function vendorServer(
  { vendorUrl, loginUrl = vendorUrl }: Pick<Adapter, 'vendorUrl' | 'loginUrl'>,
  authMode: AuthMode,
): string | undefined {
  return authMode === 'login' ? loginUrl : vendorUrl;
}
