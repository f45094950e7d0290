"""Drives a dynamotest with the AWS CLI: python client.py SERVER FAULTY run|read

Started by scripts/clients, which says what SERVER and FAULTY are. Prints a line
for each group of checks; a failed check ends the program. Each call of the CLI is
a process of its own, so it makes fewer calls than the other clients.
"""

import base64
import json
import os
import subprocess
import sys
import time
from decimal import Decimal

ME = "cli"
ADDS = 4  # of this client to the shared counter
server, faulty, task = sys.argv[1:]
table = f"scenario-{ME}"
aws_command = [sys.executable, "-m", "awscli"]
account = dict(os.environ, AWS_ACCESS_KEY_ID="x", AWS_SECRET_ACCESS_KEY="y", AWS_DEFAULT_REGION="us-east-1", AWS_DEFAULT_OUTPUT="json")


def run(command, url, service, arguments):
    words = [command, *arguments.pop("words", [])]
    for name, value in arguments.items():
        words.append("--" + name.replace("_", "-"))
        if value is not True:
            words.append(value if isinstance(value, str) else json.dumps(value))
    return subprocess.run([*aws_command, service, *words, "--endpoint-url", url], env=account, capture_output=True, text=True, encoding="utf-8")


def aws(command, url=server, service="dynamodb", **arguments):
    """Runs a command; its arguments are flags (True), texts or JSON."""
    done = run(command, url, service, arguments)
    assert done.returncode == 0, f"{done.args} ended with {done.returncode}: {done.stderr}"
    return json.loads(done.stdout) if done.stdout.strip() else {}


def refused(error, command, url=server, **arguments):
    done = run(command, url, "dynamodb", arguments)
    assert done.returncode in (254, 255) and f"An error occurred ({error})" in done.stderr, f"{done}"
    return done.stderr


def equal(got, want):
    assert got == want, f"got {got!r}, want {want!r}"


def key(pk, sk=1):
    return {"pk": {"S": pk}, "sk": {"N": str(sk)}}


def everything():
    """An item of every type; the other clients write and expect the same."""
    return {
        "text": {"S": 'Å "quoted" \\ / \u2028 \0 日本 👩‍🚀'},
        "empty": {"S": ""},
        "digits": {"N": "12345678901234567890123456789012345.678"},
        "great": {"N": "9.9999999999999999999999999999999999999E+125"},
        "small": {"N": "-1.5E-129"},
        "bytes": {"B": "\0\x7få👍"},  # the CLI takes text for bytes, and prints base64
        "yes": {"BOOL": True},
        "nothing": {"NULL": True},
        "list": {"L": [{"N": "1"}, {"S": "two"}, {"L": []}, {"M": {}}]},
        "map": {"M": {"nested": {"M": {"å": {"L": [{"BOOL": False}, {"NULL": True}]}}}}},
        "strings": {"SS": ["a", "å", "👍"]},
        "numbers": {"NS": ["1", "2.5", "-3e10"]},
        "binaries": {"BS": ["\0", "å"]},
    }


def as_printed(item):
    """The item as the CLI prints it, with base64 for bytes."""

    def base64_of(text):
        return base64.b64encode(text.encode()).decode()

    return item | {"bytes": {"B": base64_of(item["bytes"]["B"])}, "binaries": {"BS": [base64_of(b) for b in item["binaries"]["BS"]]}}


def compared(value):
    """The value with numbers and sets in a form that compares as they do."""
    (kind, v), = value.items()  # fmt: skip
    if kind == "N":
        v = Decimal(v)
    elif kind == "L":
        v = [compared(e) for e in v]
    elif kind == "M":
        v = {name: compared(e) for name, e in v.items()}
    elif kind in ("SS", "BS"):
        v = set(v)
    elif kind == "NS":
        v = {Decimal(n) for n in v}
    return kind, v


def create_table():
    definition = dict(
        table_name=table,
        billing_mode="PAY_PER_REQUEST",
        attribute_definitions=[dict(AttributeName=n, AttributeType=t) for n, t in [("pk", "S"), ("sk", "N"), ("kind", "S")]],
        key_schema=[dict(AttributeName="pk", KeyType="HASH"), dict(AttributeName="sk", KeyType="RANGE")],
        global_secondary_indexes=[
            dict(IndexName="by-kind", KeySchema=[dict(AttributeName="kind", KeyType="HASH")], Projection=dict(ProjectionType="ALL"))
        ],
        stream_specification=dict(StreamEnabled=True, StreamViewType="NEW_AND_OLD_IMAGES"),
        tags=[dict(Key="team", Value="blå")],
    )
    aws("create-table", **definition)
    aws("wait", words=["table-exists"], table_name=table)
    refused("ResourceInUseException", "create-table", **definition)
    seen = aws("describe-table", table_name=table)["Table"]
    equal((seen["TableStatus"], seen["KeySchema"]), ("ACTIVE", definition["key_schema"]))
    equal([(i["IndexName"], i["IndexStatus"]) for i in seen["GlobalSecondaryIndexes"]], [("by-kind", "ACTIVE")])
    assert table in aws("list-tables", page_size="1")["TableNames"]
    aws("update-time-to-live", table_name=table, time_to_live_specification="Enabled=true,AttributeName=ttl")
    equal(aws("describe-time-to-live", table_name=table)["TimeToLiveDescription"], dict(TimeToLiveStatus="ENABLED", AttributeName="ttl"))
    equal(aws("list-tags-of-resource", resource_arn=seen["TableArn"])["Tags"], [dict(Key="team", Value="blå")])


def conditions():
    item = key("one") | everything()
    put = dict(table_name=table, condition_expression="attribute_not_exists(pk)")
    aws("put-item", item=item, **put)
    said = refused("ConditionalCheckFailedException", "put-item", item=item, **put)
    assert said.strip().endswith("when calling the PutItem operation: The conditional request failed"), said
    got = aws("get-item", table_name=table, key=key("one"), consistent_read=True)["Item"]
    equal({n: compared(v) for n, v in got.items()}, {n: compared(v) for n, v in as_printed(item).items()})


def updates():
    reply = aws(
        "update-item",
        table_name=table,
        key=key("two"),
        update_expression="SET #n = if_not_exists(#n, :zero) + :one, l = :l",
        expression_attribute_names={"#n": "n"},
        expression_attribute_values={":zero": {"N": "0"}, ":one": {"N": "1"}, ":l": {"L": [{"S": "x"}]}},
        return_values="ALL_NEW",
        return_consumed_capacity="TOTAL",
    )
    equal(reply["Attributes"], key("two") | {"n": {"N": "1"}, "l": {"L": [{"S": "x"}]}})
    equal(reply["ConsumedCapacity"], {"TableName": table, "CapacityUnits": 1.0})
    equal(aws("delete-item", table_name=table, key=key("two"), return_values="ALL_OLD")["Attributes"]["n"], {"N": "1"})


def batches_and_pages():
    def put(i):
        return {"PutRequest": {"Item": key("many", i) | {"kind": {"S": "odd" if i % 2 else "even"}}}}

    equal(aws("batch-write-item", request_items={table: [put(i) for i in range(25)]}), {"UnprocessedItems": {}})
    got = aws("batch-get-item", request_items={table: {"Keys": [key("many", i) for i in range(25)]}})
    equal(sorted(int(i["sk"]["N"]) for i in got["Responses"][table]), list(range(25)))
    many = dict(table_name=table, key_condition_expression="pk = :p", expression_attribute_values={":p": {"S": "many"}})
    all_pages = aws("query", page_size="7", **many)
    equal([int(i["sk"]["N"]) for i in all_pages["Items"]], list(range(25)))
    first = aws("query", max_items="10", **many)
    rest = aws("query", starting_token=first["NextToken"], **many)
    equal([int(i["sk"]["N"]) for i in first["Items"] + rest["Items"]], list(range(25)))
    odd = dict(key_condition_expression="kind = :k", expression_attribute_values={":k": {"S": "odd"}}, projection_expression="sk")
    equal(aws("query", table_name=table, index_name="by-kind", select="SPECIFIC_ATTRIBUTES", **odd)["Count"], 12)
    equal(aws("scan", table_name=table, select="COUNT")["Count"], 26)


def transactions():
    def put(sk, **more):
        return {"Put": {"TableName": table, "Item": key("tx", sk), **more}}

    aws("transact-write-items", transact_items=[put(1), put(2)])
    items = [put(3), put(1, ConditionExpression="attribute_not_exists(pk)")]
    assert "[None, ConditionalCheckFailed]" in refused("TransactionCanceledException", "transact-write-items", transact_items=items)
    got = aws("transact-get-items", transact_items=[{"Get": {"TableName": table, "Key": key("tx", sk)}} for sk in (2, 3)])
    equal(got["Responses"], [{"Item": key("tx", 2)}, {}])


def partiql():
    insert = f"""INSERT INTO "{table}" VALUE {{'pk': 'ql', 'sk': 1, 'note': ?}}"""
    aws("execute-statement", statement=insert, parameters=[{"S": "it's å"}])
    refused("DuplicateItemException", "execute-statement", statement=insert, parameters=[{"S": "no"}])
    got = aws("execute-statement", statement=f"""SELECT note FROM "{table}" WHERE pk = 'ql'""")
    equal(got["Items"], [{"note": {"S": "it's å"}}])


def errors():
    refused("ResourceNotFoundException", "scan", table_name="nowhere")
    refused("ValidationException", "get-item", table_name=table, key={"pk": {"S": "x"}})


def read_stream():
    of = dict(service="dynamodbstreams")
    arn = aws("list-streams", table_name=table, **of)["Streams"][0]["StreamArn"]
    shard = aws("describe-stream", stream_arn=arn, **of)["StreamDescription"]["Shards"][0]["ShardId"]
    at = aws("get-shard-iterator", stream_arn=arn, shard_id=shard, shard_iterator_type="TRIM_HORIZON", **of)["ShardIterator"]
    records = aws("get-records", shard_iterator=at, **of)["Records"]
    two = [r["eventName"] for r in records if r["dynamodb"]["Keys"]["pk"] == {"S": "two"}]
    equal(two, ["INSERT", "REMOVE"])


def retries():
    """A request that FAULTY refuses is retried, if a retry may help."""
    at, name, x = dict(url=faulty), dict(table_name="retries"), dict(key={"id": {"S": "x"}})
    aws("create-table", attribute_definitions="AttributeName=id,AttributeType=S", key_schema="AttributeName=id,KeyType=HASH",
        billing_mode="PAY_PER_REQUEST", **name, **at)  # fmt: skip
    add = dict(update_expression="ADD n :one", expression_attribute_values={":one": {"N": "1"}}, return_values="UPDATED_NEW")
    for n in "1", "2", "3":  # throttled, 500, 503
        equal(aws("update-item", **name, **x, **add, **at)["Attributes"], {"n": {"N": n}})
    for _ in "spoiled", "cut":
        equal(aws("get-item", **name, **x, **at)["Item"]["n"], {"N": "3"})
    refused("TransactionCanceledException", "transact-write-items", transact_items=[{"Put": {"TableName": "retries", "Item": x["key"]}}], **at)
    refused("TransactionConflictException", "delete-item", **name, **x, **at)
    batch = {"retries": [{"PutRequest": {"Item": {"id": {"S": str(i)}}}} for i in range(25)]}
    for left in 10, 0:
        batch = aws("batch-write-item", request_items=batch, **at)["UnprocessedItems"]
        equal(len(batch.get("retries", [])), left)


def delete():
    aws("delete-table", table_name=table)
    aws("wait", words=["table-not-exists"], table_name=table)
    refused("ResourceNotFoundException", "describe-table", table_name=table)


def write_shared():
    """Writes an item of its own and counts with the others, optimistically."""
    done = run("create-table", server, "dynamodb", dict(table_name="shared", billing_mode="PAY_PER_REQUEST",
        attribute_definitions="AttributeName=id,AttributeType=S", key_schema="AttributeName=id,KeyType=HASH"))  # fmt: skip
    assert done.returncode == 0 or "(ResourceInUseException)" in done.stderr, done.stderr  # another client may be first
    aws("wait", words=["table-exists"], table_name="shared")
    aws("put-item", table_name="shared", item={"id": {"S": ME}} | everything())
    done = 0
    while done < ADDS:
        item = aws("get-item", table_name="shared", key={"id": {"S": "counter"}}, consistent_read=True).get("Item")
        unchanged = dict(condition_expression="attribute_not_exists(id)")
        if item:
            unchanged = dict(condition_expression="version = :v", expression_attribute_values={":v": item["version"]})
        item = item or {"id": {"S": "counter"}, "n": {"N": "0"}, "version": {"N": "0"}, "by": {"M": {}}}
        by = item["by"]["M"]
        for holder, name in (item, "n"), (item, "version"), (by, ME):
            holder[name] = {"N": str(int(holder.get(name, {"N": "0"})["N"]) + 1)}
        put = run("put-item", server, "dynamodb", dict(table_name="shared", item=item, **unchanged))
        assert put.returncode == 0 or "(ConditionalCheckFailedException)" in put.stderr, put.stderr
        done += put.returncode == 0  # otherwise another one was faster


def read_shared():
    items = {item.pop("id")["S"]: item for item in aws("scan", table_name="shared")["Items"]}
    counter = items.pop("counter")
    equal(sorted(items), sorted(["cli", "java", "javascript", "python"]))
    want = {n: compared(v) for n, v in as_printed(everything()).items()}
    for writer, item in items.items():
        got = {n: compared(v) for n, v in item.items()}
        assert got == want, f"as written by {writer}: {item}"
    by = {n: int(v["N"]) for n, v in counter["by"]["M"].items()}
    equal(by[ME], ADDS)
    equal((int(counter["n"]["N"]), int(counter["version"]["N"])), (sum(by.values()),) * 2)


tasks = {
    "run": [
        create_table, conditions, updates, batches_and_pages, transactions,
        partiql, errors, read_stream, retries, delete, write_shared,
    ],
    "read": [read_shared],
}  # fmt: skip
version = subprocess.run([*aws_command, "--version"], env=account, capture_output=True, text=True).stdout.split()[0].split("/")[1]
for group in tasks[task]:
    began = time.monotonic()
    group()
    print(f"ok  AWS CLI {version}  {group.__name__.replace('_', ' ')}  {time.monotonic() - began:.2f} s", flush=True)
