@0.3
Feature: A host of the canonical wire calls and answers
  A result that breaks its model costs the call alone, and a request is refused by the row of the table that it deserves.

  Scenario Outline: A result that is none
    Given an extension with the script
      """
      on tool/call
      say {"id":«id tool/call»,"jsonrpc":"2.0","result":<result>}
      """
    When the host calls the tool "echo"
    Then the host reports a failure
    And the extension was asked to shut down

    @EXT03-TOOL-015
    Examples:
      | result                                           |
      | {}                                               |
      | {"content":"text","is_error":false,"metadata":{}} |

    @EXT03-MODEL-002
    Examples:
      | result                                                                                        |
      | {"content":[{"text":"x","type":"image"}],"is_error":false,"metadata":{}}                      |
      | {"content":[{"text":"x"}],"is_error":false,"metadata":{}}                                     |

    @EXT03-MODEL-003
    Examples:
      | result                                                                                        |
      | {"content":[],"is_error":false,"metadata":{},"more":1}                                        |
      | {"content":[{"more":1,"text":"x","type":"text"}],"is_error":false,"metadata":{}}              |

    @EXT03-MODEL-006
    Examples:
      | result                                                                                        |
      | {"content":[{"text":null,"type":"text"}],"is_error":false,"metadata":{}}                      |
      | {"content":[],"is_error":null,"metadata":{}}                                                  |

    @EXT03-TOOL-017
    Examples:
      | result                                                                                        |
      | {"content":[{"text":"it failed","type":"text"}],"is_error":true,"metadata":{}}                |

  @EXT03-ERR-010
  Scenario Outline: The data of a cancelled call
    Given an extension with the script
      """
      on $/cancelRequest
      say {"error":{"code":-32800,<data>"message":"request cancelled"},"id":«id tool/call»,"jsonrpc":"2.0"}
      """
    When the host is interrupted during a call of "slow"
    Then the call was cancelled once
    And the extension was asked to shut down

    Examples:
      | data         |
      |              |
      | "data":null, |
      | "data":[7],  |

  @EXT03-ERR-011 @EXT03-ERR-012 @EXT03-METHOD-006 @EXT03-METHOD-012 @EXT03-BUS-011
  Scenario: Requests that are refused
    Given an extension with the script
      """
      on tool/call
      say {"id":"p-1","jsonrpc":"2.0","method":"peer/unknown","params":{}}
      say {"id":"p-2","jsonrpc":"2.0","method":"tools/register","params":{}}
      say {"id":"p-3","jsonrpc":"2.0","method":"context/collect","params":{}}
      say {"id":"p-4","jsonrpc":"2.0","method":"confirmation/request","params":{}}
      say {"id":"p-5","jsonrpc":"2.0","method":"bus/declare","params":{}}
      say {"id":"p-6","jsonrpc":"2.0","method":"tool/call","params":{}}
      on answer "p-6"
      say «answer»
      """
    When the host calls the tool "echo"
    Then the host says what the tool said
    And the extension is answered
      | request | answer                                        | rule             |
      | "p-1"   | error unknown_method data {"method":"peer/unknown"} | EXT03-ERR-011    |
      | "p-1"   | error unknown_method                          | EXT03-METHOD-006 |
      | "p-2"   | error unknown_method                          | EXT03-METHOD-012 |
      | "p-3"   | error unknown_method                          | EXT03-METHOD-012 |
      | "p-4"   | error unknown_method                          | EXT03-METHOD-006 |
      | "p-5"   | error unknown_method                          | EXT03-BUS-011    |
      | "p-6"   | error unknown_method                          | EXT03-METHOD-006 |
      

  @EXT03-PROC-010
  Scenario: A descendant that holds the output open
    Given an extension that leaves a process behind that holds its output open
    When the host calls the tool "echo"
    Then the host says what the tool said
    And nothing of the extension is left

  @EXT03-PROC-011
  Scenario: An extension that says a lot on the side
    Given an extension with the script
      """
      on tool/call
      shout 4194304
      then
      say «answer»
      """
    When the host calls the tool "echo"
    Then the host says what the tool said
    And the extension was asked to shut down
