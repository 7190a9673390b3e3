Feature: Cancellation and progress
  A cancelled request still gets its one answer; progress belongs to a request that has none yet.

  @0.2 @0.4 @EXT04-CANCEL-001 @EXT04-CANCEL-002 @EXT04-CANCEL-009
  Scenario: A running call is cancelled
    Given the extension is ready
    And a call is running
    When the host cancels the running call
    Then the extension answers with a result or the error request_cancelled
    And no frame breaks a rule of this scenario

  @0.2 @0.4 @EXT04-CANCEL-001
  Scenario: A running call is cancelled without a reason
    Given the extension is ready
    And a call is running
    When the host sends the line {"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":«running»}}
    Then the extension answers with a result or the error request_cancelled

  @0.2 @0.4 @EXT04-CANCEL-003
  Scenario: A cancellation right behind its request
    Given the extension is ready
    When the host makes the slow call
    And the host cancels the call
    Then the extension answers with a result or the error request_cancelled

  @0.2 @0.4 @EXT04-CANCEL-004
  Scenario: A cancellation without effect
    Given the extension is ready
    Then each of these lines is met with silence
      | {"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1,"reason":"user"}}        |
      | {"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":77,"reason":"user"}}       |
      | {"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"nobody","reason":"user"}} |

  @0.2 @0.4 @EXT04-CANCEL-004 @EXT04-ENV-006
  Scenario: A call is cancelled twice
    Given the extension is ready
    And a call is running
    When the host sends the line {"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":«running»}}
    And the host sends the line {"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":«running»}}
    Then the running call is answered
    And the extension stays silent and goes on serving

  @0.2 @0.4 @EXT04-CANCEL-005
  Scenario: An id that was named by an earlier cancellation
    Given the extension is ready
    When the host sends the line {"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":88,"reason":"user"}}
    And the host sends the line {"jsonrpc":"2.0","id":88,"method":"tool/call","params":{"name":«tool»,"arguments":«arguments»,"context":«context»}}
    Then the extension answers with a result

  @0.2 @0.4 @EXT04-CANCEL-006
  Scenario: Another running call is left alone
    Given the extension is ready
    And a call is running
    And a call is running
    When the host cancels the running call
    And the running call is answered
    Then the running call is undisturbed

  @0.2 @0.4 @EXT04-CANCEL-007 @EXT04-CANCEL-008
  Scenario: Nothing is cancelled that nobody cancelled
    Given the extension is ready
    When the host has an ordinary conversation
    Then no frame breaks a rule of this scenario

  @0.1 @EXT01-CANCEL-001 @EXT01-PROG-001
  Scenario: The frozen API has neither cancellation nor progress
    Given the extension is ready
    When the host has an ordinary conversation
    And the host makes the slow call
    And the host asks for shutdown
    And the extension answers with a result
    Then no frame breaks a rule of this scenario

  @0.2 @0.4
  @EXT04-PROG-002 @EXT04-PROG-003 @EXT04-PROG-004 @EXT04-PROG-005 @EXT04-PROG-006 @EXT04-PROG-007 @EXT04-PROG-008
  Scenario: Progress of calls
    Given the extension is ready
    When the host has an ordinary conversation
    Then no frame breaks a rule of this scenario

  @0.2 @0.4 @EXT04-PROG-001
  Scenario: Progress that was not offered
    Given the host offers /protocol/optional_features = []
    And the extension is ready
    When the host has an ordinary conversation
    Then no frame breaks a rule of this scenario

  @0.1 @0.2 @0.4 @EXT04-NOTE-001 @EXT04-NOTE-002 @EXT04-NOTE-003 @EXT04-NOTE-004
  Scenario: Notices to the person
    Given the extension is ready
    When the host has an ordinary conversation
    Then no frame breaks a rule of this scenario
