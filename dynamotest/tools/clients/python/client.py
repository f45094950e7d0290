"""Drives a dynamotest with boto3: python client.py SERVER FAULTY run|read

Started by scripts/clients, which says what SERVER and FAULTY are. Prints a line
for each group of checks; a failed check ends the program.
"""

import http.client
import socket
import sys
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal, Rounded
from urllib.parse import urlsplit

import boto3
from boto3.dynamodb.conditions import Attr, Key
from boto3.dynamodb.types import DYNAMODB_CONTEXT, Binary
from botocore.exceptions import ClientError

# DynamoDB writes 1E+100 with all its zeros. boto3 refuses so many digits unless
# it may round: github.com/boto/boto3/issues/2500.
DYNAMODB_CONTEXT.traps[Rounded] = False

ME = "python"
ADDS = 20  # of this client to the shared counter
server, faulty, task = sys.argv[1:]


def options(url, **more):
    return dict(endpoint_url=url, region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="y", **more)


db = boto3.client("dynamodb", **options(server))
streams = boto3.client("dynamodbstreams", **options(server))
resource = boto3.resource("dynamodb", **options(server))
table = resource.Table(f"scenario-{ME}")
shared = resource.Table("shared")


def equal(got, want):
    assert got == want, f"got {got!r}, want {want!r}"


def refused(error, call, **arguments):
    """The call must raise this error, which is returned."""
    try:
        call(**arguments)
    except error as e:
        return e.response
    raise AssertionError(f"{call} did not raise {error}")


def everything():
    """An item of every type; the other clients write and expect the same."""
    return {
        "text": 'Å "quoted" \\ / \u2028 \0 日本 👩‍🚀',
        "empty": "",
        "digits": Decimal("12345678901234567890123456789012345.678"),
        "great": Decimal("9.9999999999999999999999999999999999999E+125"),
        "small": Decimal("-1.5E-129"),
        "bytes": Binary("\0\x7få👍".encode()),
        "yes": True,
        "nothing": None,
        "list": [Decimal(1), "two", [], {}],
        "map": {"nested": {"å": [False, None]}},
        "strings": {"a", "å", "👍"},
        "numbers": {Decimal("1"), Decimal("2.5"), Decimal("-30000000000")},
        "binaries": {Binary(b"\0"), Binary("å".encode())},
    }


def create_table():
    definition = dict(
        TableName=table.name,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[dict(AttributeName=n, AttributeType=t) for n, t in [("pk", "S"), ("sk", "N"), ("kind", "S")]],
        KeySchema=[dict(AttributeName="pk", KeyType="HASH"), dict(AttributeName="sk", KeyType="RANGE")],
        GlobalSecondaryIndexes=[
            dict(
                IndexName="by-kind",
                KeySchema=[dict(AttributeName="kind", KeyType="HASH"), dict(AttributeName="sk", KeyType="RANGE")],
                Projection=dict(ProjectionType="ALL"),
            )
        ],
        StreamSpecification=dict(StreamEnabled=True, StreamViewType="NEW_AND_OLD_IMAGES"),
        Tags=[dict(Key="team", Value="blå")],
    )
    db.create_table(**definition)
    db.get_waiter("table_exists").wait(TableName=table.name)
    refused(db.exceptions.ResourceInUseException, db.create_table, **definition)

    seen = db.describe_table(TableName=table.name)["Table"]
    equal((seen["TableStatus"], seen["ItemCount"]), ("ACTIVE", 0))
    equal(seen["KeySchema"], definition["KeySchema"])
    index = seen["GlobalSecondaryIndexes"][0]
    equal((index["IndexName"], index["IndexStatus"]), ("by-kind", "ACTIVE"))
    assert abs(seen["CreationDateTime"].timestamp() - time.time()) < 60, seen["CreationDateTime"]
    names = [n for page in db.get_paginator("list_tables").paginate(PaginationConfig=dict(PageSize=1)) for n in page["TableNames"]]
    assert table.name in names and names == sorted(names), names

    db.update_time_to_live(TableName=table.name, TimeToLiveSpecification=dict(Enabled=True, AttributeName="ttl"))
    equal(db.describe_time_to_live(TableName=table.name)["TimeToLiveDescription"], dict(TimeToLiveStatus="ENABLED", AttributeName="ttl"))

    arn = seen["TableArn"]
    db.tag_resource(ResourceArn=arn, Tags=[dict(Key="stage", Value="test")])
    db.untag_resource(ResourceArn=arn, TagKeys=["team"])
    equal(db.list_tags_of_resource(ResourceArn=arn)["Tags"], [dict(Key="stage", Value="test")])


def conditions():
    first = {"pk": "one", "sk": Decimal(1), "kind": "a", "n": Decimal(5)}
    table.put_item(Item=first, ConditionExpression=Attr("pk").not_exists())
    error = refused(
        db.exceptions.ConditionalCheckFailedException,
        db.put_item,
        TableName=table.name,
        Item={"pk": {"S": "one"}, "sk": {"N": "1"}},
        ConditionExpression="attribute_not_exists(pk)",
        ReturnValuesOnConditionCheckFailure="ALL_OLD",
    )
    equal(error["Item"], {"pk": {"S": "one"}, "sk": {"N": "1"}, "kind": {"S": "a"}, "n": {"N": "5"}})
    equal(error["Error"]["Message"], "The conditional request failed")
    refused(
        db.exceptions.ConditionalCheckFailedException,
        table.delete_item,
        Key={"pk": "one", "sk": 1},
        ConditionExpression=Attr("n").gt(5) | ~Attr("kind").begins_with("a"),
    )
    equal(table.get_item(Key={"pk": "one", "sk": 1}, ConsistentRead=True)["Item"], first)
    assert "Item" not in table.get_item(Key={"pk": "none", "sk": 1})


def updates():
    reply = table.update_item(
        Key={"pk": "two", "sk": 1},
        UpdateExpression="SET #n = if_not_exists(#n, :zero) + :one, #l = list_append(if_not_exists(#l, :none), :two) ADD #s :ab",
        ExpressionAttributeNames={"#n": "n", "#l": "l", "#s": "s"},
        ExpressionAttributeValues={":zero": 0, ":one": 1, ":none": [], ":two": ["x", "y"], ":ab": {"a", "b"}},
        ReturnValues="ALL_NEW",
        ReturnConsumedCapacity="TOTAL",
    )
    equal(reply["Attributes"], {"pk": "two", "sk": Decimal(1), "n": Decimal(1), "l": ["x", "y"], "s": {"a", "b"}})
    equal(reply["ConsumedCapacity"], {"TableName": table.name, "CapacityUnits": 1.0})
    reply = table.update_item(
        Key={"pk": "two", "sk": 1},
        UpdateExpression="SET l[0] = :z REMOVE n DELETE s :a",
        ExpressionAttributeValues={":z": "z", ":a": {"a"}},
        ReturnValues="UPDATED_OLD",
    )
    equal(reply["Attributes"], {"l": ["x"], "n": Decimal(1), "s": {"a", "b"}})
    gone = table.delete_item(Key={"pk": "two", "sk": 1}, ReturnValues="ALL_OLD")["Attributes"]
    equal(gone, {"pk": "two", "sk": Decimal(1), "l": ["z", "y"], "s": {"b"}})


def types():
    item = {"pk": "types", "sk": Decimal(1), "all": Binary(bytes(range(256)))} | everything()
    table.put_item(Item=item)
    equal(table.get_item(Key={"pk": "types", "sk": 1})["Item"], item)
    wire = db.get_item(TableName=table.name, Key={"pk": {"S": "types"}, "sk": {"N": "1"}})["Item"]
    equal(wire["digits"], {"N": "12345678901234567890123456789012345.678"})
    equal(wire["all"], {"B": bytes(range(256))})
    too_long = dict(TableName=table.name, Item={"pk": {"S": "types"}, "sk": {"N": "1" * 39}})
    equal(refused(ClientError, db.put_item, **too_long)["Error"]["Code"], "ValidationException")


def batches_and_pages():
    with table.batch_writer() as batch:
        for i in range(60):
            batch.put_item(Item={"pk": "many", "sk": i, "kind": "even" if i % 2 == 0 else "odd", "text": "x" * 30_000})
    keys = [{"pk": "many", "sk": i} for i in range(60)]
    # 1.8 MB come in one reply: the limit of a batch is 16 MB, that of a page 1 MB.
    got = resource.batch_get_item(RequestItems={table.name: dict(Keys=keys)})
    equal(sorted(i["sk"] for i in got["Responses"][table.name]), list(range(60)))
    equal(got["UnprocessedKeys"], {})

    query = db.get_paginator("query")
    by_pk = dict(TableName=table.name, KeyConditionExpression="pk = :p", ExpressionAttributeValues={":p": {"S": "many"}})
    pages = [[int(i["sk"]["N"]) for i in page["Items"]] for page in query.paginate(**by_pk, PaginationConfig=dict(PageSize=7))]
    equal(sum(pages, []), list(range(60)))
    equal([len(p) for p in pages], [7] * 8 + [4])
    big = [page["Count"] for page in query.paginate(**by_pk)]
    equal((sum(big), len(big)), (60, 2))
    cut = query.paginate(**by_pk, PaginationConfig=dict(MaxItems=10)).build_full_result()
    rest = query.paginate(**by_pk, PaginationConfig=dict(StartingToken=cut["NextToken"])).build_full_result()
    equal([int(i["sk"]["N"]) for i in rest["Items"]], list(range(10, 60)))

    odd = table.query(IndexName="by-kind", KeyConditionExpression=Key("kind").eq("odd") & Key("sk").between(10, 20), ScanIndexForward=False)
    equal([int(i["sk"]) for i in odd["Items"]], [19, 17, 15, 13, 11])
    few = table.query(KeyConditionExpression=Key("pk").eq("many") & Key("sk").lt(5), FilterExpression=Attr("kind").is_in(["odd", "?"]), ProjectionExpression="sk")
    equal((few["Items"], few["ScannedCount"]), ([{"sk": Decimal(1)}, {"sk": Decimal(3)}], 5))

    def segment(n):
        scan = db.get_paginator("scan").paginate(
            TableName=table.name, Segment=n, TotalSegments=4, FilterExpression="pk = :p", ExpressionAttributeValues={":p": {"S": "many"}}
        )
        return [int(i["sk"]["N"]) for page in scan for i in page["Items"]]

    with ThreadPoolExecutor() as pool:
        equal(sorted(sum(pool.map(segment, range(4)), [])), list(range(60)))


def transactions():
    def put(sk, **more):
        return {"Put": {"TableName": table.name, "Item": {"pk": {"S": "tx"}, "sk": {"N": str(sk)}}, **more}}

    add = {
        "Update": {
            "TableName": table.name,
            "Key": {"pk": {"S": "tx"}, "sk": {"N": "0"}},
            "UpdateExpression": "ADD n :one",
            "ExpressionAttributeValues": {":one": {"N": "1"}},
        }
    }
    for _ in range(2):  # with one token it happens once
        db.transact_write_items(TransactItems=[put(1), add], ClientRequestToken=f"token-{ME}")
    refused(db.exceptions.IdempotentParameterMismatchException, db.transact_write_items, TransactItems=[put(2)], ClientRequestToken=f"token-{ME}")
    absent = dict(ConditionExpression="attribute_not_exists(pk)", ReturnValuesOnConditionCheckFailure="ALL_OLD")
    error = refused(db.exceptions.TransactionCanceledException, db.transact_write_items, TransactItems=[put(3), put(1, **absent)])
    equal([r["Code"] for r in error["CancellationReasons"]], ["None", "ConditionalCheckFailed"])
    equal(error["CancellationReasons"][1]["Item"], {"pk": {"S": "tx"}, "sk": {"N": "1"}})
    assert "[None, ConditionalCheckFailed]" in error["Error"]["Message"], error
    get = [{"Get": {"TableName": table.name, "Key": {"pk": {"S": "tx"}, "sk": {"N": str(sk)}}}} for sk in (0, 3)]
    responses = db.transact_get_items(TransactItems=get)["Responses"]
    equal(responses[0]["Item"]["n"], {"N": "1"})
    assert "Item" not in responses[1], responses


def partiql():
    db.execute_statement(Statement=f"""INSERT INTO "{table.name}" VALUE {{'pk': 'ql', 'sk': 1, 'list': [1, 'å']}}""")
    again = dict(Statement=f"""INSERT INTO "{table.name}" VALUE {{'pk': ?, 'sk': ?}}""", Parameters=[{"S": "ql"}, {"N": "1"}])
    refused(db.exceptions.DuplicateItemException, db.execute_statement, **again)
    changed = db.execute_statement(
        Statement=f"""UPDATE "{table.name}" SET note = ? WHERE pk = ? AND sk = ? RETURNING ALL NEW *""",
        Parameters=[{"S": "it's"}, {"S": "ql"}, {"N": "1"}],
    )
    equal(changed["Items"], [{"pk": {"S": "ql"}, "sk": {"N": "1"}, "list": {"L": [{"N": "1"}, {"S": "å"}]}, "note": {"S": "it's"}}])
    select, sks, token = f"""SELECT sk FROM "{table.name}" WHERE pk = 'many'""", [], {}
    while True:
        page = db.execute_statement(Statement=select, Limit=25, **token)
        sks += [int(i["sk"]["N"]) for i in page["Items"]]
        if "NextToken" not in page:
            break
        token = dict(NextToken=page["NextToken"])
    equal(sks, list(range(60)))
    batch = db.batch_execute_statement(
        Statements=[dict(Statement=f"""SELECT * FROM "{t}" WHERE pk = 'ql' AND sk = 1""") for t in (table.name, "nowhere")]
    )["Responses"]
    equal((batch[0]["Item"]["note"], batch[1]["Error"]["Code"]), ({"S": "it's"}, "ResourceNotFound"))


def errors():
    refused(db.exceptions.ResourceNotFoundException, db.scan, TableName="nowhere")
    refused(db.exceptions.ResourceNotFoundException, db.describe_table, TableName="nowhere")

    def code(call, **arguments):
        return refused(ClientError, call, TableName=table.name, **arguments)["Error"]["Code"]

    equal(code(db.get_item, Key={"pk": {"S": "x"}}), "ValidationException")
    equal(code(db.put_item, Item={"pk": {"S": "x"}, "sk": {"N": "1"}, "big": {"B": bytes(400 << 10)}}), "ValidationException")
    refused(db.exceptions.ClientError, db.query, TableName=table.name, KeyConditionExpression="pk = :p")
    # Each error has its status and the id of its request.
    meta = refused(db.exceptions.ResourceNotFoundException, db.scan, TableName="nowhere")["ResponseMetadata"]
    equal((meta["HTTPStatusCode"], len(meta["RequestId"])), (400, 52))


def read_stream():
    arn = streams.list_streams(TableName=table.name)["Streams"][0]["StreamArn"]
    described = streams.describe_stream(StreamArn=arn)["StreamDescription"]
    equal((described["StreamStatus"], described["StreamViewType"]), ("ENABLED", "NEW_AND_OLD_IMAGES"))
    shard = described["Shards"][0]["ShardId"]
    at = streams.get_shard_iterator(StreamArn=arn, ShardId=shard, ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
    records = []
    while page := streams.get_records(ShardIterator=at, Limit=50):
        records += page["Records"]
        if not page["Records"]:
            break
        at = page["NextShardIterator"]
    two = [r for r in records if r["dynamodb"]["Keys"]["pk"] == {"S": "two"}]
    equal([r["eventName"] for r in two], ["INSERT", "MODIFY", "REMOVE"])
    equal(two[1]["dynamodb"]["OldImage"]["n"], {"N": "1"})
    equal(two[1]["dynamodb"]["NewImage"]["l"], {"L": [{"S": "z"}, {"S": "y"}]})
    assert "NewImage" not in two[2]["dynamodb"]


def retries():
    """A request that FAULTY refuses is retried, if a retry may help."""
    flaky, name, key = boto3.client("dynamodb", **options(faulty)), "retries", {"id": {"S": "x"}}
    flaky.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[dict(AttributeName="id", AttributeType="S")],
        KeySchema=[dict(AttributeName="id", KeyType="HASH")],
    )
    add = dict(TableName=name, Key=key, UpdateExpression="ADD n :one", ExpressionAttributeValues={":one": {"N": "1"}}, ReturnValues="UPDATED_NEW")
    for n in "1", "2", "3":  # throttled, 500, 503
        reply = flaky.update_item(**add)
        equal((reply["Attributes"]["n"]["N"], reply["ResponseMetadata"]["RetryAttempts"]), (n, 1))
    for _ in "spoiled", "cut":
        reply = flaky.get_item(TableName=name, Key=key)
        equal((reply["Item"]["n"]["N"], reply["ResponseMetadata"]["RetryAttempts"]), ("3", 1))
    put = {"Put": {"TableName": name, "Item": key}}
    error = refused(flaky.exceptions.TransactionCanceledException, flaky.transact_write_items, TransactItems=[put])
    equal([r["Code"] for r in error["CancellationReasons"]], ["TransactionConflict"])
    refused(flaky.exceptions.TransactionConflictException, flaky.delete_item, TableName=name, Key=key)
    with boto3.resource("dynamodb", **options(faulty)).Table(name).batch_writer() as batch:
        for i in range(25):  # some come back unprocessed, and are sent again
            batch.put_item(Item={"id": str(i)})
    equal(flaky.scan(TableName=name, Select="COUNT")["Count"], 26)


def wire():
    """Requests that HTTP allows and SDKs of other languages send."""
    at = urlsplit(server)
    body = b'{"TableName":"%s","Key":{"pk":{"S":"types"},"sk":{"N":"1"}}}' % table.name.encode()
    head = {"X-Amz-Target": "DynamoDB_20120810.GetItem", "Content-Type": "application/x-amz-json-1.0", "Accept-Encoding": "gzip, deflate"}
    connection = http.client.HTTPConnection(at.hostname, at.port)
    sockets = set()
    for payload in [body, iter([body[:10], body[10:]])]:  # the second one is sent in chunks
        connection.request("POST", "/", payload, head, encode_chunked=payload is not body)
        sockets.add(connection.sock.getsockname())
        reply = connection.getresponse()
        text = reply.read()
        equal((reply.status, int(reply.headers["x-amz-crc32"])), (200, zlib.crc32(text)))
        assert "日本".encode() in text, text
    equal(len(sockets), 1)  # kept alive

    with socket.create_connection((at.hostname, at.port)) as raw:
        lines = ["POST / HTTP/1.1", f"Host: {at.netloc}", f"Content-Length: {len(body)}", "Expect: 100-continue", "Connection: close"]
        lines += [f"{name.lower()}: {value}" for name, value in head.items()]
        raw.sendall("\r\n".join(lines + ["", ""]).encode())
        equal(raw.recv(1000), b"HTTP/1.1 100 Continue\r\n\r\n")
        raw.sendall(body)
        assert raw.makefile("rb").read().startswith(b"HTTP/1.1 200 OK\r\n")


def delete():
    db.update_table(TableName=table.name, DeletionProtectionEnabled=True)
    equal(refused(ClientError, db.delete_table, TableName=table.name)["Error"]["Code"], "ValidationException")
    db.update_table(TableName=table.name, DeletionProtectionEnabled=False)
    db.delete_table(TableName=table.name)
    db.get_waiter("table_not_exists").wait(TableName=table.name)
    refused(db.exceptions.ResourceNotFoundException, db.describe_table, TableName=table.name)


def write_shared():
    """Writes an item of its own and counts with the others, optimistically."""
    try:
        db.create_table(
            TableName=shared.name,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[dict(AttributeName="id", AttributeType="S")],
            KeySchema=[dict(AttributeName="id", KeyType="HASH")],
        )
    except db.exceptions.ResourceInUseException:
        pass  # another client was first
    shared.meta.client.get_waiter("table_exists").wait(TableName=shared.name)
    shared.put_item(Item={"id": ME} | everything())
    done = 0
    while done < ADDS:
        item = shared.get_item(Key={"id": "counter"}, ConsistentRead=True).get("Item")
        unchanged = Attr("version").eq(item["version"]) if item else Attr("id").not_exists()
        item = item or {"id": "counter", "n": 0, "version": 0, "by": {}}
        item["n"] += 1
        item["version"] += 1
        item["by"][ME] = item["by"].get(ME, 0) + 1
        try:
            shared.put_item(Item=item, ConditionExpression=unchanged)
            done += 1
        except db.exceptions.ConditionalCheckFailedException:
            pass  # another one was faster


def read_shared():
    items = {item.pop("id"): item for item in shared.scan()["Items"]}
    counter = items.pop("counter")
    equal(sorted(items), sorted(["cli", "java", "javascript", "python"]))
    for writer, item in items.items():
        assert item == everything(), f"as written by {writer}: {item}"
    equal(counter["by"][ME], ADDS)
    equal((counter["n"], counter["version"]), (sum(counter["by"].values()),) * 2)


tasks = {
    "run": [
        create_table, conditions, updates, types, batches_and_pages, transactions,
        partiql, errors, read_stream, retries, wire, delete, write_shared,
    ],
    "read": [read_shared],
}  # fmt: skip
for group in tasks[task]:
    began = time.monotonic()
    group()
    print(f"ok  boto3 {boto3.__version__}  {group.__name__.replace('_', ' ')}  {time.monotonic() - began:.2f} s", flush=True)
