import static java.util.stream.Collectors.toMap;
import static java.util.stream.Collectors.toSet;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.client.builder.AwsClientBuilder;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.core.exception.Crc32MismatchException;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.core.util.VersionInfo;
import software.amazon.awssdk.enhanced.dynamodb.DynamoDbEnhancedClient;
import software.amazon.awssdk.enhanced.dynamodb.DynamoDbTable;
import software.amazon.awssdk.enhanced.dynamodb.Expression;
import software.amazon.awssdk.enhanced.dynamodb.Key;
import software.amazon.awssdk.enhanced.dynamodb.TableSchema;
import software.amazon.awssdk.enhanced.dynamodb.extensions.annotations.DynamoDbVersionAttribute;
import software.amazon.awssdk.enhanced.dynamodb.mapper.annotations.DynamoDbBean;
import software.amazon.awssdk.enhanced.dynamodb.mapper.annotations.DynamoDbPartitionKey;
import software.amazon.awssdk.enhanced.dynamodb.mapper.annotations.DynamoDbSecondaryPartitionKey;
import software.amazon.awssdk.enhanced.dynamodb.model.QueryConditional;
import software.amazon.awssdk.enhanced.dynamodb.model.ReadBatch;
import software.amazon.awssdk.enhanced.dynamodb.model.TransactPutItemEnhancedRequest;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.*;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsClient;

/**
 * Drives a dynamotest with the Java SDK: java Client SERVER FAULTY run|read
 *
 * <p>Started by scripts/clients, which says what SERVER and FAULTY are. Prints a line for each group
 * of checks; a failed check ends the program.
 */
@SuppressWarnings("unchecked") // the SDK takes generic varargs
public final class Client {
    static final String ME = "java", TABLE = "scenario-" + ME;
    static final int WRITERS = 4, ADDS = 10; // of each of this client's writers to the shared counter

    final String faulty;
    final DynamoDbClient db;
    final DynamoDbAsyncClient async;
    final DynamoDbStreamsClient streams;
    final DynamoDbEnhancedClient enhanced;

    Client(String server, String faulty) {
        this.faulty = faulty;
        // Each with another of the SDK's HTTP clients.
        db = at(server, DynamoDbClient.builder()).httpClient(Apache5HttpClient.create()).build();
        async = at(server, DynamoDbAsyncClient.builder()).httpClient(NettyNioAsyncHttpClient.create()).build();
        streams = at(server, DynamoDbStreamsClient.builder()).httpClient(UrlConnectionHttpClient.create()).build();
        enhanced = DynamoDbEnhancedClient.builder().dynamoDbClient(db).build();
    }

    static <B extends AwsClientBuilder<B, ?>> B at(String endpoint, B builder) {
        return builder.endpointOverride(java.net.URI.create(endpoint))
                .region(Region.US_EAST_1)
                .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("x", "y")));
    }

    // Helpers of the checks.

    static void equal(Object got, Object want) {
        if (!Objects.equals(got, want)) {
            throw new AssertionError("got " + got + ", want " + want);
        }
    }

    /** The call must throw an exception of this very class, which is returned. */
    static <E extends Exception> E refused(Class<E> type, Callable<?> call) {
        Object got;
        try {
            got = call.call();
        } catch (Exception e) {
            if (e.getClass() == type) {
                return type.cast(e);
            }
            throw new AssertionError("not refused with " + type, e);
        }
        throw new AssertionError("not refused with " + type + ": " + got);
    }

    static void invalid(Callable<?> call) {
        equal(refused(DynamoDbException.class, call).awsErrorDetails().errorCode(), "ValidationException");
    }

    static AttributeValue s(String v) {
        return AttributeValue.fromS(v);
    }

    static AttributeValue n(Object v) {
        return AttributeValue.fromN(v.toString());
    }

    static SdkBytes bytes(String text) {
        return SdkBytes.fromUtf8String(text);
    }

    static Map<String, AttributeValue> key(String pk, int sk) {
        return Map.of("pk", s(pk), "sk", n(sk));
    }

    static Map<String, AttributeValue> with(Map<String, AttributeValue> item, String name, AttributeValue v) {
        var all = new HashMap<>(item);
        all.put(name, v);
        return all;
    }

    static List<Integer> range(int from, int to) {
        return IntStream.range(from, to).boxed().toList();
    }

    static List<Integer> numbers(List<Map<String, AttributeValue>> items, String name) {
        return items.stream().map(i -> Integer.valueOf(i.get(name).n())).toList();
    }

    static <T> List<T> flat(List<List<T>> lists) {
        return lists.stream().flatMap(List::stream).toList();
    }

    /** The item with numbers and sets in a form that compares as they do. */
    static Map<String, Object> compared(Map<String, AttributeValue> item) {
        return item.entrySet().stream().collect(toMap(Map.Entry::getKey, e -> compared(e.getValue())));
    }

    static Object compared(AttributeValue v) {
        return switch (v.type()) {
            case N -> new BigDecimal(v.n()).stripTrailingZeros();
            case L -> v.l().stream().map(Client::compared).toList();
            case M -> compared(v.m());
            case SS -> Set.copyOf(v.ss());
            case NS -> v.ns().stream().map(n -> new BigDecimal(n).stripTrailingZeros()).collect(toSet());
            case BS -> Set.copyOf(v.bs());
            default -> v;
        };
    }

    /** An item of every type; the other clients write and expect the same. */
    static Map<String, AttributeValue> everything() {
        return new HashMap<>(Map.ofEntries(
                Map.entry("text", s("Å \"quoted\" \\ / \u2028 \0 日本 👩‍🚀")),
                Map.entry("empty", s("")),
                Map.entry("digits", n("12345678901234567890123456789012345.678")),
                Map.entry("great", n("9.9999999999999999999999999999999999999E+125")),
                Map.entry("small", n("-1.5E-129")),
                Map.entry("bytes", AttributeValue.fromB(bytes("\0\u007få👍"))),
                Map.entry("yes", AttributeValue.fromBool(true)),
                Map.entry("nothing", AttributeValue.fromNul(true)),
                Map.entry("list", AttributeValue.fromL(List.of(n(1), s("two"), AttributeValue.fromL(List.of()), AttributeValue.fromM(Map.of())))),
                Map.entry("map", AttributeValue.fromM(Map.of("nested", AttributeValue.fromM(
                        Map.of("å", AttributeValue.fromL(List.of(AttributeValue.fromBool(false), AttributeValue.fromNul(true)))))))),
                Map.entry("strings", AttributeValue.fromSs(List.of("a", "å", "👍"))),
                Map.entry("numbers", AttributeValue.fromNs(List.of("1", "2.5", "-3e10"))),
                Map.entry("binaries", AttributeValue.fromBs(List.of(bytes("\0"), bytes("å"))))));
    }

    // The groups of checks.

    void createTable() {
        var schema = List.of(
                KeySchemaElement.builder().attributeName("pk").keyType(KeyType.HASH).build(),
                KeySchemaElement.builder().attributeName("sk").keyType(KeyType.RANGE).build());
        var definition = CreateTableRequest.builder().tableName(TABLE)
                .billingMode(BillingMode.PAY_PER_REQUEST)
                .attributeDefinitions(
                        a -> a.attributeName("pk").attributeType("S"), a -> a.attributeName("sk").attributeType("N"),
                        a -> a.attributeName("kind").attributeType("S"))
                .keySchema(schema)
                .globalSecondaryIndexes(g -> g.indexName("by-kind")
                        .keySchema(k -> k.attributeName("kind").keyType(KeyType.HASH), k -> k.attributeName("sk").keyType(KeyType.RANGE))
                        .projection(p -> p.projectionType(ProjectionType.ALL)))
                .streamSpecification(x -> x.streamEnabled(true).streamViewType(StreamViewType.NEW_AND_OLD_IMAGES))
                .tags(t -> t.key("team").value("blå"))
                .build();
        db.createTable(definition);
        try (var waiter = db.waiter()) {
            var seen = waiter.waitUntilTableExists(d -> d.tableName(TABLE)).matched().response().orElseThrow().table();
            equal(seen.tableStatus(), TableStatus.ACTIVE);
        }
        refused(ResourceInUseException.class, () -> db.createTable(definition));
        var table = db.describeTable(d -> d.tableName(TABLE)).table();
        equal(table.keySchema(), schema);
        equal(table.globalSecondaryIndexes().get(0).indexStatus(), IndexStatus.ACTIVE);
        equal(Duration.between(table.creationDateTime(), Instant.now()).abs().toMinutes(), 0L);
        equal(db.listTablesPaginator(l -> l.limit(1)).tableNames().stream().anyMatch(TABLE::equals), true);

        db.updateTimeToLive(u -> u.tableName(TABLE).timeToLiveSpecification(t -> t.enabled(true).attributeName("ttl")));
        equal(db.describeTimeToLive(d -> d.tableName(TABLE)).timeToLiveDescription().timeToLiveStatus(), TimeToLiveStatus.ENABLED);
        db.tagResource(t -> t.resourceArn(table.tableArn()).tags(x -> x.key("stage").value("test")));
        db.untagResource(t -> t.resourceArn(table.tableArn()).tagKeys("team"));
        var tags = db.listTagsOfResource(l -> l.resourceArn(table.tableArn())).tags();
        equal(tags, List.of(Tag.builder().key("stage").value("test").build()));
    }

    void conditions() {
        var first = with(key("one", 1), "kind", s("a"));
        db.putItem(p -> p.tableName(TABLE).item(first).conditionExpression("attribute_not_exists(pk)"));
        var error = refused(ConditionalCheckFailedException.class, () -> db.putItem(p -> p.tableName(TABLE).item(key("one", 1))
                .conditionExpression("attribute_not_exists(pk)")
                .returnValuesOnConditionCheckFailure(ReturnValuesOnConditionCheckFailure.ALL_OLD)));
        equal(error.item(), first);
        equal(error.awsErrorDetails().errorMessage(), "The conditional request failed");
        refused(ConditionalCheckFailedException.class, () -> db.deleteItem(d -> d.tableName(TABLE).key(key("one", 1))
                .conditionExpression("NOT begins_with(kind, :a)").expressionAttributeValues(Map.of(":a", s("a")))));
        equal(db.getItem(g -> g.tableName(TABLE).key(key("one", 1)).consistentRead(true)).item(), first);
        equal(db.getItem(g -> g.tableName(TABLE).key(key("none", 1))).hasItem(), false);
    }

    void updates() {
        var reply = db.updateItem(u -> u.tableName(TABLE).key(key("two", 1))
                .updateExpression("SET #n = if_not_exists(#n, :zero) + :one, #l = list_append(if_not_exists(#l, :none), :two) ADD #s :ab")
                .expressionAttributeNames(Map.of("#n", "n", "#l", "l", "#s", "s"))
                .expressionAttributeValues(Map.of(":zero", n(0), ":one", n(1), ":none", AttributeValue.fromL(List.of()),
                        ":two", AttributeValue.fromL(List.of(s("x"), s("y"))), ":ab", AttributeValue.fromSs(List.of("a", "b"))))
                .returnValues(ReturnValue.ALL_NEW).returnConsumedCapacity(ReturnConsumedCapacity.TOTAL));
        equal(reply.attributes().get("n"), n(1));
        equal(reply.attributes().get("l").l(), List.of(s("x"), s("y")));
        equal(reply.consumedCapacity().capacityUnits(), 1.0);
        var old = db.updateItem(u -> u.tableName(TABLE).key(key("two", 1)).updateExpression("SET l[0] = :z REMOVE n DELETE s :a")
                .expressionAttributeValues(Map.of(":z", s("z"), ":a", AttributeValue.fromSs(List.of("a"))))
                .returnValues(ReturnValue.UPDATED_OLD));
        equal(old.attributes().keySet(), Set.of("l", "n", "s"));
        var gone = db.deleteItem(d -> d.tableName(TABLE).key(key("two", 1)).returnValues(ReturnValue.ALL_OLD)).attributes();
        equal(compared(gone).get("s"), Set.of("b"));
    }

    void types() {
        var all = new byte[256];
        IntStream.range(0, 256).forEach(i -> all[i] = (byte) i);
        var item = with(everything(), "all", AttributeValue.fromB(SdkBytes.fromByteArray(all)));
        item.putAll(key("types", 1));
        db.putItem(p -> p.tableName(TABLE).item(item));
        var got = db.getItem(g -> g.tableName(TABLE).key(key("types", 1))).item();
        equal(compared(got), compared(item));
        equal(got.get("digits"), n("12345678901234567890123456789012345.678"));
        equal(Arrays.equals(got.get("all").b().asByteArray(), all), true);
        invalid(() -> db.putItem(p -> p.tableName(TABLE).item(with(key("types", 1), "n", n("1".repeat(39))))));
    }

    void batchesAndPages() throws Exception {
        for (int from = 0; from < 60; from += 25) {
            var writes = range(from, Math.min(from + 25, 60)).stream().map(sk -> {
                var item = with(with(key("many", sk), "kind", s(sk % 2 == 0 ? "even" : "odd")), "text", s("x".repeat(30_000)));
                return WriteRequest.builder().putRequest(p -> p.item(item)).build();
            }).toList();
            equal(db.batchWriteItem(b -> b.requestItems(Map.of(TABLE, writes))).unprocessedItems(), Map.of());
        }
        // 1.8 MB come in one reply: the limit of a batch is 16 MB, that of a page 1 MB.
        var keys = range(0, 60).stream().map(sk -> key("many", sk)).toList();
        var batch = db.batchGetItem(b -> b.requestItems(Map.of(TABLE, KeysAndAttributes.builder().keys(keys).build())));
        equal(numbers(batch.responses().get(TABLE), "sk").stream().sorted().toList(), range(0, 60));

        var many = QueryRequest.builder().tableName(TABLE).keyConditionExpression("pk = :p")
                .expressionAttributeValues(Map.of(":p", s("many"))).build();
        var pages = db.queryPaginator(many.toBuilder().limit(7).build()).stream().map(p -> numbers(p.items(), "sk")).toList();
        equal(flat(pages), range(0, 60));
        equal(pages.size(), 9);
        equal(db.queryPaginator(many).stream().count(), 2L);
        equal(numbers(db.queryPaginator(many).items().stream().toList(), "sk"), range(0, 60));
        var odd = db.query(many.toBuilder().indexName("by-kind").keyConditionExpression("kind = :k AND sk BETWEEN :from AND :to")
                .expressionAttributeValues(Map.of(":k", s("odd"), ":from", n(10), ":to", n(20))).scanIndexForward(false).build());
        equal(numbers(odd.items(), "sk"), List.of(19, 17, 15, 13, 11));

        // Concurrent segments, through the other HTTP client and its publisher of pages.
        var found = Collections.synchronizedSet(new TreeSet<Integer>());
        var segments = range(0, 4).stream().map(segment -> async.scanPaginator(x -> x.tableName(TABLE).segment(segment).totalSegments(4)
                        .filterExpression("pk = :p").expressionAttributeValues(Map.of(":p", s("many"))))
                .subscribe(page -> found.addAll(numbers(page.items(), "sk")))).toArray(CompletableFuture[]::new);
        CompletableFuture.allOf(segments).get();
        equal(List.copyOf(found), range(0, 60));
    }

    static TransactWriteItem put(int sk, boolean fresh) {
        return TransactWriteItem.builder().put(p -> p.tableName(TABLE).item(key("tx", sk))
                .conditionExpression(fresh ? "attribute_not_exists(pk)" : null)
                .returnValuesOnConditionCheckFailure(ReturnValuesOnConditionCheckFailure.ALL_OLD)).build();
    }

    void transactions() {
        var add = TransactWriteItem.builder().update(u -> u.tableName(TABLE).key(key("tx", 0)).updateExpression("ADD n :one")
                .expressionAttributeValues(Map.of(":one", n(1)))).build();
        for (int i = 0; i < 2; i++) { // with one token it happens once
            db.transactWriteItems(t -> t.transactItems(put(1, false), add).clientRequestToken("token-" + ME));
        }
        refused(IdempotentParameterMismatchException.class,
                () -> db.transactWriteItems(t -> t.transactItems(put(2, false)).clientRequestToken("token-" + ME)));
        var error = refused(TransactionCanceledException.class,
                () -> db.transactWriteItems(t -> t.transactItems(put(3, false), put(1, true))));
        equal(error.cancellationReasons().stream().map(CancellationReason::code).toList(), List.of("None", "ConditionalCheckFailed"));
        equal(error.cancellationReasons().get(1).item(), key("tx", 1));
        var got = db.transactGetItems(t -> t.transactItems(Stream.of(0, 3)
                .map(sk -> TransactGetItem.builder().get(g -> g.tableName(TABLE).key(key("tx", sk))).build()).toList())).responses();
        equal(got.get(0).item().get("n"), n(1));
        equal(got.get(1).hasItem(), false);
    }

    void partiql() {
        var insert = "INSERT INTO \"" + TABLE + "\" VALUE {'pk': ?, 'sk': ?, 'list': [1, 'å']}";
        db.executeStatement(x -> x.statement(insert).parameters(s("ql"), n(1)));
        refused(DuplicateItemException.class, () -> db.executeStatement(x -> x.statement(insert).parameters(s("ql"), n(1))));
        var changed = db.executeStatement(x -> x.parameters(s("it's"), s("ql"), n(1))
                .statement("UPDATE \"" + TABLE + "\" SET note = ? WHERE pk = ? AND sk = ? RETURNING ALL NEW *"));
        equal(changed.items().get(0).get("note"), s("it's"));
        var found = new ArrayList<Integer>();
        for (String token = null; ; ) {
            var next = token;
            var page = db.executeStatement(x -> x.statement("SELECT sk FROM \"" + TABLE + "\" WHERE pk = 'many'").limit(25).nextToken(next));
            found.addAll(numbers(page.items(), "sk"));
            if ((token = page.nextToken()) == null) {
                break;
            }
        }
        equal(found, range(0, 60));
        var doubled = ParameterizedStatement.builder().statement(insert).parameters(s("ql"), n(1)).build();
        var error = refused(TransactionCanceledException.class, () -> db.executeTransaction(x -> x.transactStatements(doubled)));
        equal(error.cancellationReasons().get(0).code(), "DuplicateItem");
    }

    void errors() {
        var error = refused(ResourceNotFoundException.class, () -> db.scan(x -> x.tableName("nowhere")));
        // Each error has its status and the id of its request.
        equal(error.statusCode(), 400);
        equal(error.requestId().length(), 52);
        refused(ResourceNotFoundException.class, () -> db.describeTable(x -> x.tableName("nowhere")));
        invalid(() -> db.getItem(g -> g.tableName(TABLE).key(Map.of("pk", s("x")))));
        invalid(() -> db.putItem(p -> p.tableName(TABLE).item(with(key("x", 1), "big", s("x".repeat(400 << 10))))));
        invalid(() -> db.query(q -> q.tableName(TABLE).keyConditionExpression("pk = :p")));
    }

    void readStream() {
        var arn = streams.listStreams(l -> l.tableName(TABLE)).streams().get(0).streamArn();
        var described = streams.describeStream(d -> d.streamArn(arn)).streamDescription();
        equal(described.streamStatus(), StreamStatus.ENABLED);
        var at = streams.getShardIterator(g -> g.streamArn(arn).shardId(described.shards().get(0).shardId())
                .shardIteratorType(ShardIteratorType.TRIM_HORIZON)).shardIterator();
        var records = new ArrayList<software.amazon.awssdk.services.dynamodb.model.Record>();
        for (; ; ) {
            var from = at;
            var page = streams.getRecords(g -> g.shardIterator(from).limit(50));
            if (page.records().isEmpty()) {
                break;
            }
            records.addAll(page.records());
            at = page.nextShardIterator();
        }
        var two = records.stream().filter(r -> r.dynamodb().keys().get("pk").equals(s("two"))).toList();
        equal(two.stream().map(r -> r.eventName()).toList(), List.of(OperationType.INSERT, OperationType.MODIFY, OperationType.REMOVE));
        equal(two.get(1).dynamodb().oldImage().get("n"), n(1));
        equal(two.get(1).dynamodb().newImage().get("l").l(), List.of(s("z"), s("y")));
        equal(two.get(2).dynamodb().hasNewImage(), false);
    }

    /** A request that FAULTY refuses is retried, if a retry may help. */
    void retries() {
        var attempts = new AtomicInteger();
        var count = new ExecutionInterceptor() {
            @Override
            public void beforeTransmission(Context.BeforeTransmission context, ExecutionAttributes attributes) {
                attempts.incrementAndGet();
            }
        };
        var name = "retries";
        var x = Map.of("id", s("x"));
        try (var flaky = at(faulty, DynamoDbClient.builder()).httpClient(UrlConnectionHttpClient.create())
                .overrideConfiguration(o -> o.addExecutionInterceptor(count)).build()) {
            createSimpleTable(flaky, name);
            for (int want = 1; want <= 3; want++) { // throttled, 500, 503
                attempts.set(0);
                var reply = flaky.updateItem(u -> u.tableName(name).key(x).updateExpression("ADD n :one")
                        .expressionAttributeValues(Map.of(":one", n(1))).returnValues(ReturnValue.UPDATED_NEW));
                equal(reply.attributes(), Map.of("n", n(want)));
                equal(attempts.get(), 2);
            }
            refused(Crc32MismatchException.class, () -> flaky.getItem(g -> g.tableName(name).key(x)));
            for (int want = 1; want <= 2; want++) { // not disturbed; cut
                attempts.set(0);
                equal(flaky.getItem(g -> g.tableName(name).key(x)).item().get("n"), n(3));
                equal(attempts.get(), want);
            }
            var put = TransactWriteItem.builder().put(p -> p.tableName(name).item(x)).build();
            var error = refused(TransactionCanceledException.class, () -> flaky.transactWriteItems(t -> t.transactItems(put)));
            equal(error.cancellationReasons().get(0).code(), "TransactionConflict");
            refused(TransactionConflictException.class, () -> flaky.deleteItem(d -> d.tableName(name).key(x)));
            var batch = Map.of(name, range(0, 25).stream()
                    .map(i -> WriteRequest.builder().putRequest(p -> p.item(Map.of("id", s("" + i)))).build()).toList());
            batch = writeBatch(flaky, batch);
            equal(batch.get(name).size(), 10);
            equal(writeBatch(flaky, batch), Map.of());
            equal(flaky.scan(q -> q.tableName(name).select(Select.COUNT)).count(), 26);
        }
    }

    static Map<String, List<WriteRequest>> writeBatch(DynamoDbClient db, Map<String, List<WriteRequest>> batch) {
        return db.batchWriteItem(b -> b.requestItems(batch)).unprocessedItems();
    }

    static void createSimpleTable(DynamoDbClient db, String name) {
        db.createTable(c -> c.tableName(name).billingMode(BillingMode.PAY_PER_REQUEST)
                .attributeDefinitions(a -> a.attributeName("id").attributeType("S"))
                .keySchema(k -> k.attributeName("id").keyType(KeyType.HASH)));
    }

    /** A bean of the enhanced client; the version guards it against lost updates. */
    @DynamoDbBean
    public static class Counter {
        private String id, kind;
        private int n;
        private Long version;
        private Map<String, Integer> by = new HashMap<>();

        @DynamoDbPartitionKey
        public String getId() { return id; }
        public void setId(String id) { this.id = id; }

        @DynamoDbSecondaryPartitionKey(indexNames = "by-kind")
        public String getKind() { return kind; }
        public void setKind(String kind) { this.kind = kind; }

        public int getN() { return n; }
        public void setN(int n) { this.n = n; }

        @DynamoDbVersionAttribute
        public Long getVersion() { return version; }
        public void setVersion(Long version) { this.version = version; }

        public Map<String, Integer> getBy() { return by; }
        public void setBy(Map<String, Integer> by) { this.by = by; }

        static Counter of(String id, String kind) {
            var c = new Counter();
            c.id = id;
            c.kind = kind;
            return c;
        }
    }

    static Key id(String id) {
        return Key.builder().partitionValue(id).build();
    }

    void enhancedClient() {
        var table = enhanced.table("beans-" + ME, TableSchema.fromBean(Counter.class));
        table.createTable();
        try (var waiter = db.waiter()) {
            waiter.waitUntilTableExists(d -> d.tableName(table.tableName()));
        }
        table.putItem(Counter.of("a", "x"));
        var first = table.getItem(id("a"));
        var second = table.getItem(id("a"));
        first.setN(5);
        equal(table.updateItem(first).getVersion(), first.getVersion() + 1);
        second.setN(6); // read before first was written
        refused(ConditionalCheckFailedException.class, () -> table.updateItem(second));
        equal(table.getItem(id("a")).getN(), 5);

        range(0, 20).forEach(i -> table.putItem(Counter.of("b" + i, i % 2 == 0 ? "even" : "odd")));
        var batch = ReadBatch.builder(Counter.class).mappedTableResource(table);
        range(0, 20).forEach(i -> batch.addGetItem(id("b" + i)));
        equal(enhanced.batchGetItem(b -> b.readBatches(batch.build())).resultsForTable(table).stream().count(), 20L);
        var even = table.index("by-kind").query(q -> q.limit(3)
                .queryConditional(QueryConditional.keyEqualTo(k -> k.partitionValue("even"))));
        equal(even.stream().flatMap(p -> p.items().stream()).count(), 10L);
        equal(table.scan().items().stream().count(), 21L);

        var absent = Expression.builder().expression("attribute_not_exists(id)").build();
        var once = TransactPutItemEnhancedRequest.builder(Counter.class).item(Counter.of("a", "x")).conditionExpression(absent).build();
        var error = refused(TransactionCanceledException.class, () -> {
            enhanced.transactWriteItems(t -> t.addPutItem(table, Counter.of("c", "x")).addPutItem(table, once));
            return null;
        });
        equal(error.cancellationReasons().get(1).code(), "ConditionalCheckFailed");
        equal(table.getItem(id("c")), null);
        table.deleteTable();
    }

    /** One client sends many requests at once. */
    void atOnce() throws Exception {
        var adds = range(0, 300).stream().map(i -> async.updateItem(u -> u.tableName(TABLE).key(key("counter", 1)).updateExpression("ADD n :one")
                .expressionAttributeValues(Map.of(":one", n(1))).returnValues(ReturnValue.UPDATED_NEW))).toList();
        var seen = new TreeSet<Integer>();
        for (var add : adds) {
            seen.add(Integer.valueOf(add.get().attributes().get("n").n()));
        }
        equal(List.copyOf(seen), range(1, 301));
    }

    void deleteTable() {
        db.updateTable(u -> u.tableName(TABLE).deletionProtectionEnabled(true));
        invalid(() -> db.deleteTable(d -> d.tableName(TABLE)));
        db.updateTable(u -> u.tableName(TABLE).deletionProtectionEnabled(false));
        db.deleteTable(d -> d.tableName(TABLE));
        try (var waiter = db.waiter()) {
            waiter.waitUntilTableNotExists(d -> d.tableName(TABLE));
        }
        refused(ResourceNotFoundException.class, () -> db.describeTable(d -> d.tableName(TABLE)));
    }

    /** Writes an item of its own and counts with the others, optimistically. */
    void writeShared() throws Exception {
        try {
            createSimpleTable(db, "shared");
        } catch (ResourceInUseException e) {
            // another client was first
        }
        try (var waiter = db.waiter()) {
            waiter.waitUntilTableExists(d -> d.tableName("shared"));
        }
        db.putItem(p -> p.tableName("shared").item(with(everything(), "id", s(ME))));
        var table = enhanced.table("shared", TableSchema.fromBean(Counter.class));
        var pool = Executors.newFixedThreadPool(WRITERS);
        for (Future<?> writer : pool.invokeAll(Collections.nCopies(WRITERS, Executors.callable(() -> count(table))))) {
            writer.get();
        }
        pool.shutdown();
    }

    static void count(DynamoDbTable<Counter> table) {
        for (int done = 0; done < ADDS; ) {
            var counter = table.getItem(g -> g.key(id("counter")).consistentRead(true));
            counter = counter != null ? counter : Counter.of("counter", null);
            counter.setN(counter.getN() + 1);
            counter.getBy().merge(ME, 1, Integer::sum);
            try {
                table.putItem(counter);
                done++;
            } catch (ConditionalCheckFailedException e) {
                // another one was faster
            }
        }
    }

    void readShared() {
        var items = db.scanPaginator(x -> x.tableName("shared")).items().stream()
                .collect(toMap(i -> i.get("id").s(), Function.identity()));
        items.remove("counter");
        equal(new TreeSet<>(items.keySet()), new TreeSet<>(Set.of("cli", "java", "javascript", "python")));
        items.forEach((writer, item) -> equal(compared(item), compared(with(everything(), "id", s(writer)))));
        var counter = enhanced.table("shared", TableSchema.fromBean(Counter.class)).getItem(id("counter"));
        equal(counter.getBy().get(ME), WRITERS * ADDS);
        int sum = counter.getBy().values().stream().mapToInt(Integer::intValue).sum();
        equal(counter.getN(), sum);
        equal(counter.getVersion(), (long) sum);
    }

    interface Group {
        void check() throws Exception;
    }

    static void group(String name, Group group) throws Exception {
        var began = System.nanoTime();
        group.check();
        System.out.printf("ok  Java SDK %s  %s  %.2f s%n", VersionInfo.SDK_VERSION, name, (System.nanoTime() - began) / 1e9);
    }

    public static void main(String[] args) throws Exception {
        var client = new Client(args[0], args[1]);
        if (args[2].equals("read")) {
            group("read shared", client::readShared);
            System.exit(0);
        }
        group("create table", client::createTable);
        group("conditions", client::conditions);
        group("updates", client::updates);
        group("types", client::types);
        group("batches and pages", client::batchesAndPages);
        group("transactions", client::transactions);
        group("partiql", client::partiql);
        group("errors", client::errors);
        group("read stream", client::readStream);
        group("retries", client::retries);
        group("enhanced client", client::enhancedClient);
        group("at once", client::atOnce);
        group("delete table", client::deleteTable);
        group("write shared", client::writeShared);
        System.exit(0); // the HTTP clients' threads wait for more
    }
}
