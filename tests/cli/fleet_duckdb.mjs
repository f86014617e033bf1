// Loads dumps of `jprof fleet dump` into DuckDB and prints the sums of each method.
//   fleet_duckdb.mjs PACKAGES CSV_FOLDER JSON_FOLDER
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [packages, csv, json] = process.argv.slice(2);
const require = createRequire(pathToFileURL(`${packages}/package.json`));
const { DuckDBInstance } = require('@duckdb/node-api');

const connection = await (await DuckDBInstance.create(':memory:')).connect();
const quoted = text => `'${text.replaceAll("'", "''")}'`;
const answers = [];
for (const [folder, read, extension] of [[csv, 'read_csv', 'csv'], [json, 'read_json', 'json']]) {
  const table = name => `${read}(${quoted(`${folder}/${name}.${extension}`)})`;
  const reader = await connection.runAndReadAll(`
    SELECT f.name AS name, CAST(sum(c.entries_0 + c.entries_1) AS VARCHAR) AS calls,
           CAST(sum(c.value_1) AS VARCHAR) AS time, CAST(count(DISTINCT r.host) AS VARCHAR) AS hosts
    FROM ${table('counts')} c
    JOIN ${table('contexts')} x ON x.context = c.context
    JOIN ${table('frames')} f ON f.frame = x.frame
    JOIN ${table('runs')} r ON r.push = c.push
    WHERE f.kind = 0 GROUP BY f.name ORDER BY f.name`);
  answers.push(reader.getRowObjectsJson());
}
console.log(JSON.stringify(answers));
