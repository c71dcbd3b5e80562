/** The catalogue of units: registration, search, and the indexes that a compilation reads. Pure memory; nothing in it runs. */
import { type Digest, sha256 } from '../../digest.ts';
import { ComposeError } from '../errors.ts';
import { Phrases } from './phrases.ts';
import { pointsOf, Ranking, topOf } from './ranking.ts';
import { matcher, type Scope } from './scope.ts';
import { Triggers } from './triggers.ts';
import { type Unit, type UnitDefinition, type UnitKind, unitOf } from './unit.ts';
import { compact, termsOf, wordsOf } from './words.ts';

export interface SearchRequest {
  /** 1 to 512 characters. */
  readonly query: string;
  /** At most 32; 8 by default. */
  readonly limit?: number;
  /** What may be found. A child passes what `narrowScope` gave it. */
  readonly scope?: Scope;
  /** Where given, only units whose capability is among them, or that need none. */
  readonly capabilities?: readonly string[];
}

/** What a search tells of a unit: never a schema, a body or a handler. */
export interface SearchHit {
  readonly unit: string;
  readonly kind: UnitKind;
  readonly name: string;
  readonly server: string | null;
  readonly category: string | null;
  readonly description: string;
  readonly available: boolean;
  readonly capability: string | null;
  readonly score: number;
}

/** A catalogue that holds the units given; more may be registered at any time. Throws as `register` does. */
export function openCatalogue(units: Iterable<UnitDefinition> = []): Catalogue {
  const catalogue = new Catalogue();
  for (const unit of units) catalogue.register(unit);
  return catalogue;
}

/** What a word counts for by where it stands, one of the description counting 1. */
const weights = { name: 3, server: 3, alias: 2, category: 1.5 } as const;

const queryCharactersMax = 512;
const searchLimits = { usual: 8, max: 32 };
// Finding what was named comes before finding what is about it.
const nameBonus = { same: 80, beginning: 60 };

export class Catalogue {
  readonly #units: Unit[] = [];
  readonly #numbers = new Map<string, number>();
  #ordered: Int32Array | undefined;
  /** Where each unit, by its number, stands in that order. */
  #places: Int32Array | undefined;
  #digest: Digest | undefined;
  #scores = new Float64Array(0);

  /** For compilations: the indexes, by the number of a unit. */
  readonly ranking = new Ranking();
  readonly triggers = new Triggers();
  /** Names, aliases, categories and servers, as a text may mention them. */
  readonly names = new Phrases<number>();

  // Columns beside the units: a compilation reads thousands of these and only a few of the units themselves.
  /** The capability that a unit needs, null for none; undefined for one that is not available. */
  readonly gates: (string | null | undefined)[] = [];
  readonly priorities: number[] = [];
  readonly ids: string[] = [];

  get size(): number {
    return this.#units.length;
  }

  /**
   * Adds a unit and returns its id. The same definition again changes nothing. Throws `compose.bad-unit`,
   * `compose.unit-clash` for another definition under the same id, `compose.supersession-cycle`; then nothing was added.
   */
  register(definition: UnitDefinition): string {
    const unit = unitOf(definition);
    const known = this.get(unit.id);
    if (known !== undefined) {
      if (known.digest === unit.digest) return unit.id;
      throw new ComposeError('compose.unit-clash', `'${unit.id}' is registered with another definition.`, {
        next: 'Give one of the two another name, or open a new catalogue for the new definition.',
        details: { unit: unit.id, registered: known.digest, given: unit.digest },
      });
    }
    this.#refuseCycle(unit);
    this.#add(unit);
    return unit.id;
  }

  get(id: string): Unit | undefined {
    const number = this.#numbers.get(id);
    return number === undefined ? undefined : this.#units[number];
  }

  /** All units in the order of their ids. */
  units(): readonly Unit[] {
    return Array.from(this.ordered(), (number) => this.at(number));
  }

  /** SHA-256 over all units, whatever the order in which they were registered. */
  digest(): Digest {
    this.#digest ??= sha256(
      this.units()
        .map(({ id, digest }) => `${id} ${digest}\n`)
        .join(''),
    );
    return this.#digest;
  }

  /** The best units for a query, best first. Throws `compose.bad-surface-request` for a query or limit out of bounds. */
  search(request: SearchRequest): SearchHit[] {
    const { query, limit = searchLimits.usual, scope = null, capabilities } = request;
    checkSearch(query, limit);
    const words = wordsOf(query);
    const scores = this.blankScores();
    this.ranking.score(termsOf(words), scores);
    const inScope = scope === null ? () => true : matcher(scope);
    const held = capabilities === undefined ? undefined : new Set(capabilities);
    const asked = compact(words);
    const found: number[] = [];
    for (const number of this.ordered()) {
      const relevance = scores[number] ?? 0;
      if (relevance === 0) continue;
      const unit = this.at(number);
      if (!inScope(unit)) continue;
      if (held !== undefined && unit.capability !== null && !held.has(unit.capability)) continue;
      scores[number] = pointsOf(relevance) + bonusOf(unit, asked) + unit.priority;
      found.push(number);
    }
    return topOf(found, scores, limit).map((number) => hitOf(this.at(number), scores[number] ?? 0));
  }

  /** The unit of a number below `size`. */
  at(number: number): Unit {
    const unit = this.#units[number];
    if (unit === undefined) throw new RangeError(`The catalogue has no unit of number ${number}.`);
    return unit;
  }

  /** The numbers of all units in the order of their ids. */
  ordered(): Int32Array {
    this.#ordered ??= Int32Array.from(this.ids.keys()).sort((a, b) =>
      (this.ids[a] ?? '') < (this.ids[b] ?? '') ? -1 : 1,
    );
    return this.#ordered;
  }

  /** A list of what holds units, each once, in the order of their ids. */
  inOrder<Holder extends { readonly unit: Unit }>(holders: readonly Holder[]): Holder[] {
    if (this.#places === undefined) {
      const places = new Int32Array(this.size);
      for (const [place, number] of this.ordered().entries()) places[number] = place;
      this.#places = places;
    }
    // The place of the id and the place in the list as one number: sorting those compares no texts.
    const placed = new Float64Array(holders.length);
    for (let i = 0; i < holders.length; i += 1) {
      const place = this.#places[this.#numbers.get(holders[i]?.unit.id ?? '') ?? 0] ?? 0;
      placed[i] = place * holders.length + i;
    }
    const sorted: Holder[] = [];
    for (const at of placed.sort()) {
      const holder = holders[at % holders.length];
      if (holder !== undefined) sorted.push(holder);
    }
    return sorted;
  }

  numberOf(id: string): number | undefined {
    return this.#numbers.get(id);
  }

  /** One score for each unit, all zero. Valid until it is asked for again: one array serves all requests. */
  blankScores(): Float64Array {
    if (this.#scores.length === this.size) return this.#scores.fill(0);
    this.#scores = new Float64Array(this.size);
    return this.#scores;
  }

  #add(unit: Unit): void {
    const terms = (text: string) => termsOf(wordsOf(text));
    const number = this.ranking.add([
      { terms: terms(unit.name), weight: weights.name },
      { terms: unit.server === null ? [] : terms(unit.server), weight: weights.server },
      { terms: unit.aliases.flatMap(terms), weight: weights.alias },
      { terms: unit.category === null ? [] : terms(unit.category), weight: weights.category, shared: true },
      { terms: terms(unit.description), weight: 1 },
    ]);
    this.triggers.add(number, unit.triggers);
    const names = [unit.name, ...unit.aliases, unit.category ?? '', unit.server ?? ''];
    for (const name of new Set(names)) this.names.add(name, number);
    this.#units.push(unit);
    this.gates.push(unit.available ? unit.capability : undefined);
    this.priorities.push(unit.priority);
    this.ids.push(unit.id);
    this.#numbers.set(unit.id, number);
    this.#ordered = undefined;
    this.#places = undefined;
    this.#digest = undefined;
  }

  // Units that supersede each other would all disappear. Whichever of them is registered last closes the circle.
  #refuseCycle(unit: Unit): void {
    const before = new Map<string, string>();
    const open = unit.supersedes.map((to) => [unit.id, to] as const);
    for (let step = open.pop(); step !== undefined; step = open.pop()) {
      const [from, to] = step;
      if (before.has(to)) continue;
      before.set(to, from);
      if (to === unit.id) throw cycleError(unit.id, before);
      for (const next of this.get(to)?.supersedes ?? []) open.push([to, next]);
    }
  }
}

function cycleError(id: string, before: ReadonlyMap<string, string>): ComposeError {
  const path = [id];
  for (let at = before.get(id); at !== undefined && at !== id; at = before.get(at)) path.unshift(at);
  const circle = [id, ...path];
  return new ComposeError(
    'compose.supersession-cycle',
    `Units supersede each other in a circle, so that none of them would be left: ${circle.join(' → ')}.`,
    { next: 'Take one of these out of the supersedes of the other.', details: { units: circle } },
  );
}

function checkSearch(query: unknown, limit: unknown): void {
  const wrong = (message: string, next: string) =>
    new ComposeError('compose.bad-surface-request', message, { next });
  if (typeof query !== 'string' || query.trim() === '' || query.length > queryCharactersMax)
    throw wrong(
      `A search needs a query of 1 to ${queryCharactersMax} characters.`,
      'Search with a few words for what is to be done.',
    );
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1 || limit > searchLimits.max)
    throw wrong(
      `A search gives 1 to ${searchLimits.max} units; the limit asked for is ${String(limit)}.`,
      `Ask for at most ${searchLimits.max}.`,
    );
}

function bonusOf(unit: Unit, asked: string): number {
  const name = compact(wordsOf(unit.name));
  if (name === asked) return nameBonus.same;
  return asked !== '' && name.startsWith(asked) ? nameBonus.beginning : 0;
}

function hitOf(unit: Unit, score: number): SearchHit {
  const { id, kind, name, server, category, description, available, capability } = unit;
  return { unit: id, kind, name, server, category, description, available, capability, score };
}
