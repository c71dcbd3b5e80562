// Builds dist/data/vega.sqlite, the public tables that the example agent answers from, and SOURCES beside it.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DatabaseSync } from '@photostructure/sqlite';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const source = join(root, 'node_modules/vega-datasets');
const target = join(root, 'dist/data');

// Each table: its file, whose order of rows is kept, and for each column its type, its field there, and a conversion.
const tables = {
  cars: {
    file: 'cars.json',
    origin: 'StatLib archive, http://lib.stat.cmu.edu/datasets/',
    terms: 'distributed in 1982 for educational and scientific purposes',
    columns: {
      name: ['TEXT', 'Name'],
      miles_per_gallon: ['REAL', 'Miles_per_Gallon'],
      cylinders: ['INTEGER', 'Cylinders'],
      displacement_cubic_inches: ['REAL', 'Displacement'],
      horsepower: ['INTEGER', 'Horsepower'],
      weight_lbs: ['INTEGER', 'Weight_in_lbs'],
      seconds_to_60_mph: ['REAL', 'Acceleration'],
      model_year: ['INTEGER', 'Year', (text) => Number(text.slice(0, 4))],
      origin: ['TEXT', 'Origin'],
    },
  },
  movies: {
    file: 'movies.json',
    origin: 'vega-datasets; no earlier source is named there',
    terms: 'no terms of its own are named; the collection is under BSD-3-Clause',
    columns: {
      title: ['TEXT', 'Title', String],
      us_gross_usd: ['INTEGER', 'US Gross'],
      worldwide_gross_usd: ['INTEGER', 'Worldwide Gross'],
      production_budget_usd: ['INTEGER', 'Production Budget'],
      release_date: ['TEXT', 'Release Date', isoDate],
      mpaa_rating: ['TEXT', 'MPAA Rating'],
      running_time_minutes: ['INTEGER', 'Running Time min'],
      distributor: ['TEXT', 'Distributor'],
      major_genre: ['TEXT', 'Major Genre'],
      director: ['TEXT', 'Director'],
      rotten_tomatoes_percent: ['INTEGER', 'Rotten Tomatoes Rating'],
      imdb_rating: ['REAL', 'IMDB Rating'],
      imdb_votes: ['INTEGER', 'IMDB Votes'],
    },
  },
  seattle_weather: {
    file: 'seattle-weather.csv',
    origin: 'NOAA National Climatic Data Center, https://www.ncdc.noaa.gov/cdo-web/datatools/records',
    terms: 'work of the government of the United States, https://www.usa.gov/government-works',
    columns: {
      date: ['TEXT', 'date'],
      precipitation_mm: ['REAL', 'precipitation', Number],
      temp_max_c: ['REAL', 'temp_max', Number],
      temp_min_c: ['REAL', 'temp_min', Number],
      wind_m_s: ['REAL', 'wind', Number],
      weather: ['TEXT', 'weather'],
    },
  },
  penguins: {
    file: 'penguins.json',
    origin: 'Palmer Station Antarctica LTER and K. Gorman, by way of palmerpenguins (A. Horst)',
    terms: 'CC0 1.0',
    columns: {
      species: ['TEXT', 'Species'],
      island: ['TEXT', 'Island'],
      beak_length_mm: ['REAL', 'Beak Length (mm)'],
      beak_depth_mm: ['REAL', 'Beak Depth (mm)'],
      flipper_length_mm: ['INTEGER', 'Flipper Length (mm)'],
      body_mass_g: ['INTEGER', 'Body Mass (g)'],
      sex: ['TEXT', 'Sex', (text) => (text === '.' ? null : text.toLowerCase())],
    },
  },
  airports: {
    file: 'airports.csv',
    origin: 'Data.gov, https://catalog.data.gov/dataset/airports-5e97a',
    terms: 'work of the government of the United States, https://www.usa.gov/government-works',
    columns: {
      iata: ['TEXT', 'iata'],
      name: ['TEXT', 'name'],
      city: ['TEXT', 'city', known],
      state: ['TEXT', 'state', known],
      country: ['TEXT', 'country'],
      latitude: ['REAL', 'latitude', Number],
      longitude: ['REAL', 'longitude', Number],
    },
  },
};

/** Writes both files unless they are those that this script and the installed data would write. */
export function buildData() {
  const { version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
  const note = sources(version);
  const database = join(target, 'vega.sqlite');
  const notePath = join(target, 'SOURCES');
  // The note names the recipe's digest and is written last: if it is there and equal, the database is finished.
  if (existsSync(database) && existsSync(notePath) && readFileSync(notePath, 'utf8') === note) return;
  mkdirSync(target, { recursive: true });
  const half = join(target, `vega.${process.pid}.tmp`);
  rmSync(half, { force: true });
  try {
    fill(half);
    rmSync(notePath, { force: true });
    renameSync(half, database);
    writeFileSync(notePath, note);
  } finally {
    rmSync(half, { force: true });
  }
}

function fill(path) {
  const db = new DatabaseSync(path);
  db.exec('PRAGMA page_size = 4096; PRAGMA journal_mode = OFF; BEGIN');
  for (const [name, { file, columns }] of Object.entries(tables)) {
    const types = Object.entries(columns).map(([column, [type]]) => `  ${column} ${type}`);
    db.exec(`CREATE TABLE ${name} (\n${types.join(',\n')}\n) STRICT`);
    const places = types.map(() => '?').join(', ');
    const insert = db.prepare(`INSERT INTO ${name} VALUES (${places})`);
    for (const row of readRows(file))
      insert.run(...Object.values(columns).map((column) => cell(row, column)));
  }
  db.exec('COMMIT; VACUUM');
  db.close();
}

function cell(row, [type, field, convert]) {
  const raw = row[field];
  if (raw === null || raw === undefined || raw === '') return null;
  const value = convert === undefined ? raw : convert(raw);
  return type === 'INTEGER' && value !== null ? BigInt(value) : value;
}

function readRows(file) {
  const text = readFileSync(join(source, 'data', file), 'utf8');
  if (file.endsWith('.json')) return JSON.parse(text);
  const [head, ...lines] = text.trim().split(/\r?\n/).map(splitCsv);
  return lines.map((cells) => Object.fromEntries(head.map((name, i) => [name, cells[i]])));
}

function splitCsv(line) {
  const cells = line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g);
  return [...cells].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain);
}

/** `Jun 12 1998` → `1998-06-12`; a year alone stays one. Two digits of a year are not guessed at. */
function isoDate(text) {
  const [, month, day, year] = /^(\w{3}) (\d{1,2}) (\d{4})$/.exec(String(text)) ?? [];
  if (year === undefined) return String(text);
  const number = 'JanFebMarAprMayJunJulAugSepOctNovDec'.indexOf(month) / 3 + 1;
  return `${year}-${String(number).padStart(2, '0')}-${day.padStart(2, '0')}`;
}

function known(text) {
  return text === 'NA' ? null : text;
}

function sources(version) {
  const recipe = createHash('sha256')
    .update(readFileSync(fileURLToPath(import.meta.url)))
    .digest('hex');
  const lines = Object.entries(tables).map(
    ([name, { file, origin, terms }]) => `${name} (data/${file})\n  from: ${origin}\n  terms: ${terms}`,
  );
  return `vega.sqlite holds tables of the npm package vega-datasets ${version}, which is under BSD-3-Clause
(https://github.com/vega/vega-datasets). Columns were renamed and typed, and three of movies left out.
No value was changed but for the form of dates, model years cut out of dates, the case of words for
sex, and marks of a missing value, which became NULL.

${lines.join('\n\n')}

recipe: sha256 ${recipe}
`;
}

buildData();
